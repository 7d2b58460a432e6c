import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseAuthParameters, splitChallenges, writeAuthParameters } from './challenge.ts'
import {
  offersTcp,
  parseClientPorts,
  parseInterleavedTransport,
  parseRtpInfo,
  parseSessionHeader,
  parseUdpTransport,
  writeInterleavedTransport,
  writeRtpInfo,
  writeSessionHeader,
  writeUdpTransport,
} from './transport.ts'

test('the interleaved transport is found among others', () => {
  const value = 'RTP/AVP;unicast;client_port=1-2,RTP/AVP/TCP;unicast;interleaved=2-3;ssrc=DEADBEEF;mode="PLAY"'
  const transport = { rtpChannel: 2, rtcpChannel: 3, ssrc: 0xdeadbeef }
  assert.deepEqual(parseInterleavedTransport(value), transport)
  assert.deepEqual(parseInterleavedTransport(writeInterleavedTransport(transport)), transport)
  assert.equal(parseInterleavedTransport('RTP/AVP;unicast;client_port=1-2'), undefined)
  assert.equal(parseInterleavedTransport('RTP/AVP/TCP;unicast;interleaved=300-301'), undefined)
})

test('a TCP transport is recognized without channels, too', () => {
  assert.equal(parseInterleavedTransport('RTP/AVP/TCP;unicast'), undefined)
  // The "TCP" is missing, but there are channels.
  const unnamed = 'RTP/AVP;unicast;destination=192.0.2.1;interleaved=0-1'
  assert.deepEqual([parseInterleavedTransport(unnamed)?.rtcpChannel, offersTcp(unnamed)], [1, true])
  assert.deepEqual([offersTcp('RTP/AVP/TCP;unicast'), offersTcp('RTP/AVP;unicast;server_port=1-2')], [true, false])
})

test('the ports of a UDP transport are parsed, and a written request is parsed to the same ports', () => {
  const ports = (value: string) => parseUdpTransport(value)
  const full = { serverRtpPort: 49_152, serverRtcpPort: 49_153, isMulticast: false }
  assert.deepEqual(ports('RTP/AVP;ssrc=22345685;unicast;client_port=54060-54061;server_port=49152-49153'), full)
  assert.deepEqual(ports('RTP/AVP/UDP;unicast;server_port=49152'), full)
  const unknown = { serverRtpPort: undefined, serverRtcpPort: undefined, isMulticast: false }
  assert.deepEqual(ports('rtp/avp/udp; unicast; client_port=5000-5001'), unknown)
  assert.deepEqual(ports('RTP/AVP;unicast;server_port=0-70000'), unknown)
  assert.equal(ports('RTP/AVP;multicast;destination=239.1.1.1;port=5000-5001')?.isMulticast, true)
  assert.equal(ports('RTP/AVP/TCP;unicast;interleaved=0-1'), undefined)
  assert.deepEqual(parseClientPorts(writeUdpTransport(50_000)), { rtp: 50_000, rtcp: 50_001 })
  assert.equal(parseClientPorts('RTP/AVP/TCP;unicast;interleaved=0-1'), undefined)
})

test('a session timeout is 60 seconds by default', () => {
  assert.deepEqual(parseSessionHeader('abc'), { id: 'abc', timeoutMs: 60_000 })
  assert.deepEqual(parseSessionHeader(writeSessionHeader({ id: 'x', timeoutMs: 30_000 })), {
    id: 'x',
    timeoutMs: 30_000,
  })
  assert.equal(parseSessionHeader('  '), undefined)
})

test('RTP-Info with separators inside its URLs is read back', () => {
  const entries = [
    { url: 'rtsp://camera/a;x?b=1,2/track1', sequence: 65_535, rtpTime: 4_294_967_295 },
    { url: 'rtsp://camera/a/track2', sequence: undefined, rtpTime: 7 },
  ].map((entry) => ({ ...entry, url: entry.url.replace(';x', '') }))
  assert.deepEqual(parseRtpInfo(writeRtpInfo(entries)), entries)
  assert.deepEqual(parseRtpInfo('url=a;seq=65536;rtptime=x'), [{ url: 'a', sequence: undefined, rtpTime: undefined }])
})

test('challenges with quotes and unusual spacing are parsed, and written ones are read back', () => {
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

test('several challenges in one header are split', () => {
  const digest = 'Digest realm="a, Basic b=c", nonce="n", qop="auth,auth-int", stale=false'
  assert.deepEqual(splitChallenges(`${digest}, Basic realm="x"`), [digest, 'Basic realm="x"'])
  assert.deepEqual(splitChallenges('Basic realm="x",Digest realm="y",nonce=z'), [
    'Basic realm="x"',
    'Digest realm="y",nonce=z',
  ])
  assert.deepEqual(splitChallenges('Negotiate, Basic realm="x"'), ['Negotiate', 'Basic realm="x"'])
  assert.deepEqual(splitChallenges(digest), [digest])
})

test('the header parsers never throw', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 80 }), (text) => {
      parseInterleavedTransport(text)
      parseUdpTransport(text)
      parseClientPorts(text)
      parseSessionHeader(text)
      parseRtpInfo(text)
      parseAuthParameters(text)
      splitChallenges(text)
    }),
  )
})
