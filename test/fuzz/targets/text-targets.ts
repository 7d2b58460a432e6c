// Parsers of what a camera says in text: RTSP messages between packets, session descriptions, values of headers.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createAuthorizer, isStale } from '../../../server/ingest/network/camera-auth.ts'
import { planStreams } from '../../../server/ingest/plan/stream-plan.ts'
import { listControlUrls, resolveBase } from '../../../server/ingest/rtsp/control-url.ts'
import { parseAuthParameters, splitChallenges } from '../../../server/media/rtsp/challenge.ts'
import { writeInterleaved } from '../../../server/media/rtsp/interleaved.ts'
import { writeRtspMessage } from '../../../server/media/rtsp/message.ts'
import { RtspStreamReader } from '../../../server/media/rtsp/stream-reader.ts'
import {
  offersTcp,
  parseClientPorts,
  parseInterleavedTransport,
  parseRtpInfo,
  parseSessionHeader,
  parseUdpTransport,
} from '../../../server/media/rtsp/transport.ts'
import { parseSdp } from '../../../server/media/sdp/parse-sdp.ts'
import { audioVideoSdp, videoSdp } from '../../support/ingest/scripted-camera.ts'
import type { FuzzTarget } from '../fuzz-target.ts'
import { catchOwn, few, pushInParts } from '../own-error.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

type Read = { readonly items: unknown[]; readonly error: string | undefined; readonly keptBytes: number }

function readRtsp(input: Uint8Array, push: (reader: RtspStreamReader) => void): Read {
  const items: unknown[] = []
  const reader = new RtspStreamReader({
    onPacket: (channel, bytes, start, end) => {
      assert.ok(start >= 0 && start <= end && end <= bytes.length, 'a packet lies in its bytes')
      items.push([channel, Buffer.from(bytes.slice(start, end)).toString('hex')])
    },
    onMessage: (message) => items.push({ ...message, body: Buffer.from(message.body).toString('hex') }),
    isPacket: (channel) => channel < 4,
  })
  const error = catchOwn(() => push(reader))
  assert.ok(
    reader.keptBytes <= input.length && reader.keptBytes <= 16_384 + 131_072 + 65_540,
    'it keeps no more than it may',
  )
  return { items, error, keptBytes: reader.keptBytes }
}

const rtspItem = fc.oneof(
  fc.record({ channel: fc.nat(5), data: fc.uint8Array({ maxLength: 60 }) }).map(({ channel, data }) => {
    const packet = Uint8Array.of(0x80, 96, 0, 1, ...data)
    return writeInterleaved(channel, packet)
  }),
  fc
    .record({ status: fc.integer({ min: 100, max: 599 }), body: fc.uint8Array({ maxLength: 60 }) })
    .map(({ status, body }) =>
      writeRtspMessage({ kind: 'response', status, reason: 'OK', headers: [['CSeq', '1']], body }),
    ),
  fc.constant(writeRtspMessage({ kind: 'request', method: 'OPTIONS', url: '*', headers: [], body: new Uint8Array() })),
)

const rtspTarget: FuzzTarget = {
  name: 'rtsp',
  seeds: () => [
    encode('RTSP/1.0 200 OK\r\nCSeq: 1\r\nPublic: OPTIONS, DESCRIBE\r\n\r\n'),
    encode(`RTSP/1.0 200 OK\r\nCSeq: 2\r\nContent-Length: ${videoSdp.length}\r\n\r\n${videoSdp}`),
    encode('RTSP/1.0 401 No\nCSeq: 3\nWWW-Authenticate: Digest realm="x"\n\n$\0\0\u0004\u0080abc'),
  ],
  generated: fc.array(rtspItem, { maxLength: 8 }).map((parts) => new Uint8Array(Buffer.concat(parts))),
  words: [
    'RTSP/1.0 200 OK\r\n',
    '\r\n\r\n',
    'Content-Length: ',
    '$\0\0\u0004',
    'RTSP/1.',
    ': ',
    '\n\n',
    'ANNOUNCE * RTSP/1.0\r\n',
  ],
  run(input, random) {
    const whole = readRtsp(input, (reader) => reader.push(input))
    const parts = readRtsp(input, (reader) => pushInParts(input, random, (part) => reader.push(part)))
    // Where there is too much rubbish is seen sooner or later; up to there, and without, the items are the same.
    const isCut = parts.error !== undefined || whole.error !== undefined
    const count = isCut ? Math.min(parts.items.length, whole.items.length) : Number.POSITIVE_INFINITY
    assert.deepEqual(parts.items.slice(0, count), whole.items.slice(0, count), 'any cut gives the same items')
    return `${few(whole.items.length)} ${whole.error}`
  },
}

const sdpTarget: FuzzTarget = {
  name: 'sdp',
  seeds: () => [
    encode(audioVideoSdp),
    encode(
      'v=0\r\no=- 0 0 IN IP4 1.2.3.4\r\ns=Media\r\na=control:*\r\nm=video 0 RTP/AVP 26\r\na=x-dimensions:2592,1944\r\nm=audio 0 RTP/AVP 0 8 98\r\n' +
        'a=rtpmap:98 G726-32/8000\r\nm=audio 0 RTP/AVP 99\r\na=rtpmap:99 opus/48000/2\r\nm=application 0 RTP/AVP 107\r\n',
    ),
    encode(
      'm=video 0 RTP/AVP 96\na=rtpmap:96 H265/90000\na=fmtp:96 sprop-vps=QAEMAf//AWA=; sprop-sps=QgEBAWA=; sprop-pps=RAHA\na=control:rtsp://h/x?y=1\n',
    ),
  ],
  words: [
    'm=video 0 RTP/AVP 96\n',
    'a=rtpmap:96 ',
    'a=fmtp:96 ',
    'a=control:',
    ';',
    'sprop-parameter-sets=',
    'config=',
    'sizelength=',
    'v=0\n',
  ],
  run(input) {
    const text = decode(input)
    const error = catchOwn(() => {
      const sdp = parseSdp(text)
      const plan = planStreams(sdp)
      assert.ok(plan.video.payloadType >= 0 && plan.video.payloadType <= 999)
      if (plan.audio) assert.ok(plan.audio.clockRate > 0)
      for (const each of sdp.media) assert.ok(listControlUrls('rtsp://camera/path?a=b', each.control).length > 0)
    })
    return error ?? 'planned'
  },
}

/** What stands in WWW-Authenticate is answered with a password: it must be answered, or not understood, and quickly. */
const loginTarget: FuzzTarget = {
  name: 'login',
  seeds: () => [
    encode('Digest realm="IP Camera(1)", nonce="4e6d", stale="FALSE", algorithm=MD5, qop="auth"'),
    encode('Basic realm="a, b"\nDigest realm="x\\"y", nonce="1", algorithm=SHA-256, qop="auth,auth-int", opaque="o"'),
    encode('Digest realm="x", nonce="1", Basic realm="y"'),
  ],
  words: [
    'Digest ',
    'Basic ',
    'realm="',
    'nonce=',
    'algorithm=SHA-256',
    'qop="auth"',
    '",',
    '\\"',
    'stale=true',
    'a '.repeat(50),
  ],
  run(input) {
    // A head of a message is no longer.
    const challenges = decode(input.subarray(0, 16_384)).split(/[\r\n]+/)
    const authorizer = createAuthorizer(challenges, { username: 'user', password: 'pass "word\\' }, () => 'nonce')
    const stale = isStale(challenges)
    for (const each of challenges) for (const one of splitChallenges(each)) parseAuthParameters(one)
    const value = authorizer?.authorize('DESCRIBE', 'rtsp://camera/')
    assert.ok(value === undefined || !/[\r\n]/.test(value), 'one line')
    return `${value?.slice(0, 6)} ${stale} ${value?.includes('qop')} ${value?.includes('SHA')}`
  },
}

const headerTarget: FuzzTarget = {
  name: 'headers',
  seeds: () => [
    encode('RTP/AVP/TCP;unicast;interleaved=0-1;ssrc=A1B2C3D4'),
    encode('RTP/AVP;unicast;client_port=5000-5001;server_port=6000-6001, RTP/AVP/TCP;interleaved=2'),
    encode('12345678;timeout=60'),
    encode('url=rtsp://h/t1;seq=1;rtptime=5,url=rtsp://h/t,2;seq=65535;rtptime=4294967295'),
    encode('rtsp://camera.local:554/a/b/?q=1'),
    encode('/Streaming/Channels/101'),
  ],
  words: ['interleaved=', 'server_port=', 'timeout=', 'url=', 'seq=', 'rtptime=', ';', ',', '-', '"'],
  run(input) {
    const text = decode(input.subarray(0, 16_384))
    const tcp = parseInterleavedTransport(text)
    if (tcp) assert.ok(tcp.rtpChannel <= 255 && tcp.rtcpChannel <= 255)
    const udp = parseUdpTransport(text)
    for (const port of [udp?.serverRtpPort, udp?.serverRtcpPort])
      assert.ok(port === undefined || (port > 0 && port < 65_536))
    const session = parseSessionHeader(text)
    if (session) assert.ok(session.timeoutMs > 0 && session.timeoutMs <= 86_400_000 && session.id !== '')
    for (const { sequence = 0, rtpTime = 0 } of parseRtpInfo(text)) assert.ok(sequence < 65_536 && rtpTime < 2 ** 32)
    parseClientPorts(text)
    const urls = listControlUrls(resolveBase(text, 'rtsp://camera/x'), text)
    assert.ok(urls.length > 0)
    return [offersTcp(text), tcp, udp?.isMulticast, session?.timeoutMs === 60_000, few(urls.length)].map(Boolean).join()
  },
}

export const textTargets: readonly FuzzTarget[] = [rtspTarget, sdpTarget, loginTarget, headerTarget]
