import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { writeSdp } from '../../../test/support/media/sdp/write-sdp.ts'
import { AppError } from '../../base/error.ts'
import { parseSdp } from './parse-sdp.ts'
import type { Sdp } from './sdp.ts'

const dahua = `v=0
o=- 2252316233 2252316233 IN IP4 0.0.0.0
s=Media Server
c=IN IP4 0.0.0.0
t=0 0
a=control:*
a=packetization-supported:DH
m=video 0 RTP/AVP 96
a=control:trackID=0
a=framerate:15.000000
a=rtpmap:96 H264/90000
a=fmtp:96 packetization-mode=1;profile-level-id=64001E;sprop-parameter-sets=Z2QAHqwsaoLA9puCgIKgAAADACAAAAMD0IAA,aO4xshsA
a=recvonly
m=audio 0 RTP/AVP 97
a=control:trackID=1
a=rtpmap:97 MPEG4-GENERIC/48000/2
a=fmtp:97 streamtype=5; profile-level-id=1; mode=AAC-hbr; sizelength=13; indexlength=3; indexdeltalength=3; config=1190
m=video 0 RTP/AVP 26
`

/** Values have the prototype of object literals. */
const plainRecord = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { noNullPrototype: true })

test('the session description of a camera is parsed', () => {
  const sdp = parseSdp(dahua.replaceAll('\n', '\r\n'))
  assert.equal(sdp.control, '*')
  assert.equal(sdp.sessionName, 'Media Server')
  const [video, audio, jpeg] = sdp.media
  assert.equal(video?.control, 'trackID=0')
  assert.equal(video?.direction, 'recvonly')
  assert.equal(video?.payloads[0]?.encoding, 'H264')
  assert.equal(video?.payloads[0]?.parameters.get('sprop-parameter-sets')?.split(',').length, 2)
  assert.equal(audio?.payloads[0]?.channels, 2)
  assert.equal(audio?.payloads[0]?.parameters.get('mode'), 'AAC-hbr')
  assert.deepEqual(jpeg?.payloads[0], {
    payloadType: 26,
    encoding: 'JPEG',
    clockRate: 90_000,
    channels: 1,
    parameters: new Map(),
  })
})

test('a medium has its own direction, or else that of the session', () => {
  const media = ['a=recvonly ', 'a= SendOnly', 'a=sendrecv', 'a=inactive', 'a=x'].map(
    (line) => `m=audio 0 RTP/AVP 0\n${line}\n`,
  )
  const directions = parseSdp(`v=0\na=recvonly\n${media.join('')}`).media.map(({ direction }) => direction)
  assert.deepEqual(directions, ['recvonly', 'sendonly', undefined, 'inactive', 'recvonly'])
})

test('a written session description is parsed to the same value', () => {
  const token = fc.stringMatching(/^[a-zA-Z0-9-]{1,12}$/)
  const payload = plainRecord({
    payloadType: fc.integer({ min: 96, max: 127 }),
    encoding: token,
    clockRate: fc.integer({ min: 1, max: 90_000 }),
    channels: fc.integer({ min: 1, max: 8 }),
    parameters: fc
      .dictionary(fc.stringMatching(/^[a-z-]{1,8}$/), fc.stringMatching(/^[A-Za-z0-9+/=,]{1,20}$/))
      .map((values) => new Map(Object.entries(values))),
  })
  const media = plainRecord({
    type: fc.constantFrom('video', 'audio', 'application'),
    port: fc.nat(65_535),
    protocol: fc.constant('RTP/AVP'),
    payloads: fc.uniqueArray(payload, { maxLength: 3, selector: (value) => value.payloadType }),
    control: fc.option(token, { nil: undefined }),
    direction: fc.constantFrom(undefined, 'sendonly', 'recvonly', 'inactive'),
  })
  const description: fc.Arbitrary<Sdp> = plainRecord({
    sessionName: token,
    control: fc.option(token, { nil: undefined }),
    media: fc.array(media, { maxLength: 4 }),
  })
  fc.assert(fc.property(description, (sdp) => assert.deepEqual(parseSdp(writeSdp(sdp)), sdp)))
})

test('any text is either parsed or reported as corrupt', () => {
  const lines = fc.array(fc.oneof(fc.string(), fc.constantFrom(...dahua.split('\n'), 'm=', 'a=rtpmap:96', 'v=0')))
  fc.assert(
    fc.property(lines, (lines) => {
      try {
        parseSdp(`v=0\n${lines.join('\n')}`)
      } catch (error) {
        assert.ok(error instanceof AppError && error.kind === 'corrupt')
      }
    }),
  )
  assert.throws(() => parseSdp('<html>'), { kind: 'corrupt' })
  assert.throws(() => parseSdp(''), { kind: 'corrupt' })
})
