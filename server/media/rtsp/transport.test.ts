import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseAuthParameters, writeAuthParameters } from './challenge.ts'
import {
  parseInterleavedTransport,
  parseRtpInfo,
  parseSessionHeader,
  writeInterleavedTransport,
  writeRtpInfo,
  writeSessionHeader,
} from './transport.ts'

test('the interleaved transport is found among others', () => {
  const value = 'RTP/AVP;unicast;client_port=1-2,RTP/AVP/TCP;unicast;interleaved=2-3;ssrc=DEADBEEF;mode="PLAY"'
  const transport = { rtpChannel: 2, rtcpChannel: 3, ssrc: 0xdeadbeef }
  assert.deepEqual(parseInterleavedTransport(value), transport)
  assert.deepEqual(parseInterleavedTransport(writeInterleavedTransport(transport)), transport)
  assert.equal(parseInterleavedTransport('RTP/AVP;unicast;client_port=1-2'), undefined)
  assert.equal(parseInterleavedTransport('RTP/AVP/TCP;unicast;interleaved=300-301'), undefined)
})

test('a session has 60 seconds unless it says otherwise', () => {
  assert.deepEqual(parseSessionHeader('abc'), { id: 'abc', timeoutMs: 60_000 })
  assert.deepEqual(parseSessionHeader(writeSessionHeader({ id: 'x', timeoutMs: 30_000 })), {
    id: 'x',
    timeoutMs: 30_000,
  })
  assert.equal(parseSessionHeader('  '), undefined)
})

test('RTP-Info with separators inside its URLs round trips', () => {
  const entries = [
    { url: 'rtsp://camera/a;x?b=1,2/track1', sequence: 65_535, rtpTime: 4_294_967_295 },
    { url: 'rtsp://camera/a/track2', sequence: undefined, rtpTime: 7 },
  ].map((entry) => ({ ...entry, url: entry.url.replace(';x', '') }))
  assert.deepEqual(parseRtpInfo(writeRtpInfo(entries)), entries)
  assert.deepEqual(parseRtpInfo('url=a;seq=65536;rtptime=x'), [{ url: 'a', sequence: undefined, rtpTime: undefined }])
})

test('challenges with quotes and odd spacing are read, and written ones come back', () => {
  const challenge = parseAuthParameters('Digest realm="a \\"b\\", c" ,nonce="n=", algorithm=SHA-256,stale=TRUE')
  assert.equal(challenge?.scheme, 'digest')
  assert.deepEqual(
    [...challenge!.parameters],
    [
      ['realm', 'a "b", c'],
      ['nonce', 'n='],
      ['algorithm', 'SHA-256'],
      ['stale', 'TRUE'],
    ],
  )
  assert.deepEqual(parseAuthParameters(writeAuthParameters('Digest', challenge!.parameters)), challenge)
})

test('no text makes the header parsers throw', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 80 }), (text) => {
      parseInterleavedTransport(text)
      parseSessionHeader(text)
      parseRtpInfo(text)
      parseAuthParameters(text)
    }),
  )
})
