import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { parseJpegHeader } from '../../server/media/jpeg/jpeg-header.ts'
import { findHeader } from '../../server/media/rtsp/message.ts'
import { parseInterleavedTransport, parseRtpInfo, parseSessionHeader } from '../../server/media/rtsp/transport.ts'
import { until } from '../support/until.ts'
import { openFakeCamera } from './fake-camera.ts'
import { readFrameCounter } from './frame-counter.ts'
import { RtspClient } from './rtsp-client.ts'
import { createLoadStreams, type StreamOptions } from './source/stream-options.ts'

const small = { width: 320, height: 180, framesPerSecond: 25, gopFrames: 10 } as const
const yard: StreamOptions = { name: 'yard', ...small }
const door: StreamOptions = { name: 'door', ...small, hasAudio: true }
const load = createLoadStreams(3, { ...small, bitsPerSecond: 200_000, loopSeconds: 0.8 })

function counters(client: RtspClient): number[] {
  return client.frames.map(({ data }) => readFrameCounter(data)?.frameNumber ?? -1)
}

function assertNoHole(numbers: readonly number[]): void {
  assert.deepEqual(
    numbers,
    Array.from({ length: numbers.length }, (_, i) => numbers[0]! + i),
  )
}

test('a live stream: described, set up, played, its times agree', async () => {
  const startedMs = Date.now()
  await using camera = await openFakeCamera({ streams: [door], sessionTimeoutMs: 30_000 })
  using client = await RtspClient.open(camera.url('door'))
  assert.match(findHeader((await client.request('OPTIONS')).headers, 'public') ?? '', /DESCRIBE/)
  const described = await client.describe()
  assert.equal(findHeader(described.headers, 'content-base'), `${camera.url('door')}/`)
  assert.deepEqual(
    client.sdp?.media.map(({ type, payloads: [payload] }) => [type, payload?.encoding, payload?.clockRate]),
    [
      ['video', 'H264', 90_000],
      ['audio', 'MPEG4-GENERIC', 16_000],
    ],
  )
  const setups = await client.setUp()
  const ssrcs = setups.map(({ headers }) => parseInterleavedTransport(findHeader(headers, 'transport') ?? '')?.ssrc)
  assert.equal(parseSessionHeader(findHeader(setups[0]!.headers, 'session') ?? '')?.timeoutMs, 30_000)
  const played = await client.request('PLAY')
  const info = parseRtpInfo(findHeader(played.headers, 'rtp-info') ?? '')
  await until(() => client.frames.length >= 30 && client.blocks.length >= 12)

  assert.equal(info[0]?.url, `${camera.url('door')}/track1`)
  for (const track of [0, 1]) {
    const first = client.packets[track]![0]!
    assert.equal(first.sequence, info[track]?.sequence)
    assert.equal(first.ssrc, ssrcs[track])
  }
  assert.equal(client.packets[0]![0]!.timestamp, info[0]?.rtpTime)
  assert.equal(client.frames[0]!.isKey, true)
  assertNoHole(counters(client))
  assert.deepEqual([client.formats[0]?.width, client.formats[0]?.height], [320, 180])
  // The report, the RTP timestamps and the time inside each frame tell the same time.
  const report = client.reports.find(({ ssrc }) => ssrc === ssrcs[0])!
  for (const { data, timestamp } of client.frames) {
    const unixMs = report.unixMs + ((timestamp - report.timestamp) | 0) / 90
    assert.ok(Math.abs(unixMs - readFrameCounter(data)!.unixMs) < 20, 'video clock')
  }
  const audio = client.reports.find(({ ssrc }) => ssrc === ssrcs[1])!
  const audioMs = audio.unixMs + ((client.blocks.at(-1)!.timestamp - audio.timestamp) | 0) / 16
  assert.ok(audioMs > startedMs - 5000 && audioMs < Date.now() + 100, 'audio clock')
  assert.equal((await client.request('GET_PARAMETER')).status, 200)
  assert.equal((await client.request('TEARDOWN')).status, 200)
  await until(() => camera.stats().streams.door!.players === 0)
})

test('H.265, live and with reordered pictures in a loop, comes whole', async () => {
  const loop = { ...small, codec: 'h265', bFrames: 2, loopSeconds: 0.8, bitsPerSecond: 200_000 } as const
  await using camera = await openFakeCamera({
    streams: [
      { ...yard, codec: 'h265' },
      { name: 'loop', ...loop },
    ],
  })
  for (const name of ['yard', 'loop']) {
    using client = await RtspClient.play(camera.url(name))
    await until(() => client.frames.length >= 30)
    const { frames, formats } = client
    assertNoHole(counters(client))
    assert.deepEqual([formats.length, formats[0]?.codec, formats[0]?.width, frames[0]?.isKey], [1, 'h265', 320, true])
    const steps = frames.slice(1, 30).map(({ timestamp }, i) => Math.sign((timestamp - frames[i]!.timestamp) | 0))
    assert.equal(steps.includes(-1), name === 'loop', `steps ${steps}`)
    const shown = frames.slice(0, 30).map(({ timestamp }) => (timestamp - frames[0]!.timestamp) | 0)
    assert.equal(new Set(shown).size, 30, 'no two at one time')
  }
})

test('JPEG pictures come whole, of the size that is described', async () => {
  await using camera = await openFakeCamera({ streams: [{ ...yard, codec: 'mjpeg', height: 184 }] })
  using client = await RtspClient.play(camera.url('yard'))
  await until(() => client.frames.length >= 20)
  assert.deepEqual(
    client.formats.map(({ codec, width, height }) => [codec, width, height]),
    [['mjpeg', 320, 184]],
  )
  for (const { data } of client.frames) assert.equal(parseJpegHeader(data).height, 184)
})

test('a stream is encoded once: all its clients get the same frames', async () => {
  await using camera = await openFakeCamera({ streams: [yard] })
  using one = await RtspClient.play(camera.url('yard'))
  await until(() => one.frames.length >= 5)
  using two = await RtspClient.open(camera.url('yard'))
  await two.describe()
  await two.setUp(10)
  await two.request('PLAY')
  await until(() => two.frames.length >= 10)
  const last = readFrameCounter(two.frames.at(-1)!.data)!.frameNumber
  await until(() => counters(one).includes(last))
  for (const frame of two.frames) {
    const { frameNumber } = readFrameCounter(frame.data)!
    assert.deepEqual(one.frames[counters(one).indexOf(frameNumber)]?.data, frame.data)
  }
  const stats = camera.stats()
  assert.equal(stats.connections, 2)
})

test('loops run on over the end of the clip, each from its own place, with a key frame at once', async () => {
  await using camera = await openFakeCamera({ streams: load })
  const clients = await Promise.all(load.map(({ name }) => RtspClient.play(camera.url(name))))
  for (const client of clients) {
    await until(() => client.frames.length >= 55)
    assertNoHole(counters(client))
    const { frames, packets } = client
    for (const [i, frame] of frames.slice(1).entries()) assert.equal((frame.timestamp - frames[i]!.timestamp) | 0, 3600)
    for (const [i, packet] of packets[0]!.slice(1).entries()) {
      assert.equal(packet.sequence, (packets[0]![i]!.sequence + 1) & 0xffff)
    }
    const first = readFrameCounter(frames[0]!.data)!.unixMs
    const last = readFrameCounter(frames[50]!.data)!.unixMs
    assert.ok(Math.abs(last - first - 2000) < 30, `50 frames in ${last - first} ms`)
    client[Symbol.dispose]()
  }
  const places = clients.map(({ frames }) => frames.slice(1).findIndex(({ isKey }) => isKey))
  assert.equal(new Set(places).size, places.length, 'key frames apart')
})

for (const scheme of ['basic', 'digest-md5', 'digest-sha256'] as const) {
  test(`${scheme}: only the right password passes`, async () => {
    const auth = { scheme, username: 'owner', password: 'se:cret "1"' }
    await using camera = await openFakeCamera({ streams: [yard], auth })
    using stranger = await RtspClient.open(camera.url('yard'))
    assert.equal((await stranger.request('OPTIONS')).status, 200)
    assert.equal((await stranger.describe()).status, 401)
    using liar = await RtspClient.open(camera.url('yard'), { ...auth, password: 'guess' })
    assert.equal((await liar.describe()).status, 401)
    using owner = await RtspClient.play(camera.url('yard'), auth)
    await until(() => owner.frames.length > 2)
  })
}

test('a worn nonce is refused as stale and a new one taken', async () => {
  const auth = { scheme: 'digest-md5', username: 'owner', password: 'secret', maxNonceUses: 2 } as const
  await using camera = await openFakeCamera({ streams: [yard], auth })
  using client = await RtspClient.play(camera.url('yard'), auth)
  for (let i = 0; i < 5; i++) assert.equal((await client.request('GET_PARAMETER')).status, 200)
})

test('what it does not have or speak is refused by the right status', async () => {
  await using camera = await openFakeCamera({ streams: [yard] })
  using client = await RtspClient.open(camera.url('yard'))
  const url = camera.url('yard')
  assert.equal((await client.request('DESCRIBE', `${url}x`)).status, 404)
  assert.equal(
    (await client.request('SETUP', `${url}/track2`, [['Transport', 'RTP/AVP/TCP;interleaved=0-1']])).status,
    404,
  )
  const udp = 'RTP/AVP;unicast;client_port=5000-5001'
  assert.equal((await client.request('SETUP', `${url}/track1`, [['Transport', udp]])).status, 461)
  assert.equal((await client.request('PLAY')).status, 454)
  await client.describe()
  await client.setUp()
  assert.equal((await client.request('RECORD')).status, 501)
})

test('a silent client is dropped after the session timeout, one that asks or reports is kept', async () => {
  await using camera = await openFakeCamera({ streams: [yard], sessionTimeoutMs: 4000 })
  using silent = await RtspClient.play(camera.url('yard'))
  using alive = await RtspClient.play(camera.url('yard'))
  await until(async () => {
    assert.equal((await alive.request('GET_PARAMETER')).status, 200)
    return silent.isClosed
  })
  assert.equal(alive.isClosed, false)
})

test('faults of the connection: dropped, refused, stalled, garbage', async () => {
  await using camera = await openFakeCamera({ streams: [yard, ...load.slice(0, 1)] })
  using one = await RtspClient.play(camera.url('yard'))
  using other = await RtspClient.play(camera.url('load/0'))
  camera.faults.dropConnections('yard')
  await one.closed
  assert.equal(other.isClosed, false)

  using two = await RtspClient.play(camera.url('yard'))
  await until(() => two.frames.length > 3)
  camera.faults.stall(3000, 'yard')
  await new Promise((resolve) => setTimeout(resolve, 500))
  const before = two.frames.length
  const asked = performance.now()
  await two.request('GET_PARAMETER')
  assert.ok(performance.now() - asked > 200, 'answers wait too')
  assert.equal(two.frames.length, before)
  await until(() => two.frames.length > before)
  assert.ok(camera.stats().streams.yard!.framesDropped > 0)

  camera.faults.sendGarbage(100, 'yard')
  await until(() => two.skippedBytes > 0)
  assert.equal(two.skippedBytes, 100)

  await camera.faults.refuseConnections(3000)
  await Promise.all([two.closed, other.closed])
  await assert.rejects(RtspClient.open(camera.url('yard')), { code: 'ECONNREFUSED' })
  await new Promise((resolve) => setTimeout(resolve, 3100))
  using again = await RtspClient.play(camera.url('yard'))
  await until(() => again.frames.length > 0)
})

test('faults of the stream: another size, another time', async () => {
  await using camera = await openFakeCamera({ streams: [yard, ...load.slice(0, 1)] })
  for (const name of ['yard', 'load/0']) {
    using client = await RtspClient.play(camera.url(name))
    await until(() => client.frames.length > 3)
    await camera.faults.changeResolution(name)
    await until(() => client.formats.length > 1)
    assert.deepEqual([client.formats[1]?.width, client.formats[1]?.height], [214, 120])
    await camera.faults.changeResolution(name)
    await until(() => client.formats.length > 2)
    assert.equal(client.formats[2]?.width, 320)
    assertNoHole(counters(client))

    const reports = client.reports.length
    camera.faults.jumpClock(-5000, name)
    const at = client.frames.length
    await until(() => client.frames.length > at + 3 && client.reports.length > reports)
    const steps = client.frames.slice(1).map(({ timestamp }, i) => (timestamp - client.frames[i]!.timestamp) | 0)
    assert.equal(steps.filter((step) => step < -400_000).length, 1, 'the timestamps step back once')
    assert.ok(Date.now() - client.reports.at(-1)!.unixMs > 4900, 'the wall clock, too')
  }
})

test('faults of the description: a status, no video, an unknown codec', async () => {
  await using camera = await openFakeCamera({ streams: [door] })
  using client = await RtspClient.open(camera.url('door'))
  camera.faults.answerWith(503)
  assert.equal((await client.describe()).status, 503)
  camera.faults.answerWith(undefined)
  camera.faults.describeAs('no_video')
  await client.describe()
  assert.deepEqual(
    client.sdp?.media.map(({ type }) => type),
    ['audio'],
  )
  camera.faults.describeAs('unknown_codec')
  await client.describe()
  assert.equal(client.sdp?.media[0]?.payloads[0]?.encoding, 'X-HOLOGRAM')
})

test('bytes that are no RTSP end their connection and no other', async () => {
  await using camera = await openFakeCamera({ streams: [yard] })
  using client = await RtspClient.play(camera.url('yard'))
  const stranger = connect(camera.port, '127.0.0.1')
  stranger.on('error', () => {})
  stranger.write(Uint8Array.from({ length: 2000 }, (_, i) => i % 7))
  await new Promise((resolve) => stranger.once('close', resolve))
  await until(() => client.frames.length > 3)
})
