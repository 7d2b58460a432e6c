import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { openHttpCamera } from '../../../test/support/ingest/scripted-http-camera.ts'
import {
  hastyClock,
  isLost,
  isOffline,
  kindsOf,
  timesOf,
  watchCamera,
} from '../../../test/support/ingest/watch-camera.ts'
import { syntheticFormat, syntheticFrames } from '../../../test/support/media/synthetic-frames.ts'
import type {
  ContainerAudio,
  ContainerPacket,
  ContainerReader,
  ContainerSink,
} from '../../media/container/container-stream.ts'

const matroska = Buffer.from('1a45dfa39f428681', 'hex')

/** Calls a function of the test instead of reading the container. */
function createReader(work: (sink: ContainerSink, bytes: Uint8Array) => boolean): ContainerReader & { closed: number } {
  return {
    closed: 0,
    open(format, sink) {
      assert.equal(format, 'matroska')
      return {
        push: (bytes) => work(sink, bytes),
        end: () => sink.onEnd({ kind: 'ended' }),
        [Symbol.asyncDispose]: async () => {
          this.closed++
        },
      }
    },
  }
}

const { video, audio: aac } = syntheticFormat({ audioSampleRate: 8000 })
const audio: ContainerAudio = { codec: 'aac', config: aac!.config, sampleRate: 8000, channels: 1 }

/** One second of video and audio on an axis that begins at `start90k`. */
function listPackets(start90k: number): ContainerPacket[] {
  const packets: ContainerPacket[] = []
  for (const { kind, pts90k, data } of syntheticFrames({ audioSampleRate: 8000 })) {
    if (pts90k > 180_000) return packets
    packets.push({ kind, pts90k: start90k + pts90k, data })
  }
  return packets
}

/** Delivers all packets at the first bytes. */
const giveAll = (packets: readonly ContainerPacket[], audio?: ContainerAudio) =>
  createReader((sink) => {
    sink.onTracks({ video: { codec: 'h264', config: video.config }, audio })
    for (const packet of packets) sink.onPacket(packet)
    return true
  })

const sendHead = (response: ServerResponse) => void response.writeHead(200).write(matroska)

test('a container becomes a run with its video and audio on one axis', async () => {
  await using camera = await openHttpCamera(sendHead)
  const packets = listPackets(77_000_000)
  const { items, last } = await watchCamera(
    { url: camera.url },
    (items) => timesOf(items, 'video').length >= 49 && timesOf(items, 'audio').length >= 10,
    { containers: giveAll(packets, audio) },
  )
  assert.ok(last?.state === 'online')
  assert.deepEqual([last.format.video.codec, last.format.audio?.codec], ['h264', 'aac'])
  assert.equal(kindsOf(items).filter((kind) => kind === 'start').length, 1)
  const given = (kind: 'video' | 'audio') =>
    packets.filter((packet) => packet.kind === kind).map(({ pts90k }) => pts90k! - 77_000_000)
  const seen = timesOf(items, 'video')
  assert.deepEqual(seen, given('video').slice(0, seen.length))
  for (const time of timesOf(items, 'audio'))
    assert.ok(
      given('audio').some((at) => Math.abs(at - time) <= 2),
      `${time}`,
    )
})

test('frames without timestamps get their times of arrival', async () => {
  await using camera = await openHttpCamera(sendHead)
  const packets = listPackets(0).filter(({ kind }) => kind === 'video')
  const startedMs = performance.now()
  const untimed = packets.map((packet) => ({ ...packet, pts90k: undefined }))
  const { items } = await watchCamera({ url: camera.url }, (items) => timesOf(items, 'video').length >= 40, {
    containers: giveAll(untimed),
  })
  const times = timesOf(items, 'video')
  assert.ok(times.length >= 40)
  assert.ok(times.every((time, i) => i === 0 || time > times[i - 1]!))
  assert.ok(times.at(-1)! < 90_000 + 90 * (performance.now() - startedMs), 'the frames have their times of arrival')
})

test('a reader that is behind slows down the camera', async () => {
  let sent = 0
  await using camera = await openHttpCamera((response) => {
    sendHead(response)
    const more = () => {
      while (sent < 64 * 1024 * 1024 && response.write(Buffer.alloc(65_536))) sent += 65_536
    }
    response.on('drain', more)
    more()
  })
  let pushes = 0
  let drain = () => {}
  const containers = createReader((sink) => {
    pushes++
    drain = () => sink.onDrain()
    return false
  })
  const stopped = new AbortController()
  const watched = watchCamera({ url: camera.url }, () => false, { containers, signal: stopped.signal })
  const tick = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  while (pushes === 0) await tick(10)
  for (let before = -1; before !== sent; ) {
    before = sent
    await tick(200)
  }
  assert.equal(pushes, 1)
  assert.ok(sent < 32 * 1024 * 1024, `${sent} bytes`)
  drain()
  while (pushes < 2) await tick(10)
  stopped.abort()
  await watched
})

const ends = {
  ended: ['camera_unreachable', /ended its stream/],
  unreadable: ['no_frames', /cannot be read/],
  no_video: ['no_frames', /contains no video/],
  too_much: ['no_frames', /too much memory/],
  changed: ['stream_changed', /another stream on the same connection/],
} as const

for (const [kind, [reason, detail]] of Object.entries(ends)) {
  test(`a stream that is ${kind} is reported`, async () => {
    await using camera = await openHttpCamera(sendHead)
    const containers = createReader((sink) => {
      sink.onEnd({ kind: kind as keyof typeof ends })
      return true
    })
    const { last } = await watchCamera({ url: camera.url }, isOffline, { containers, clock: hastyClock })
    assert.ok(last?.state === 'offline')
    assert.equal(last.reason, reason)
    assert.match(last.detail, detail)
    assert.ok(containers.closed >= 1)
  })
}

test('a process that ends while frames arrive is reported with the reason', async () => {
  await using camera = await openHttpCamera(sendHead)
  const packets = listPackets(0)
  const containers = createReader((sink) => {
    sink.onTracks({ video: { codec: 'h264', config: video.config }, audio: undefined })
    for (const packet of packets) sink.onPacket(packet)
    sink.onEnd({ kind: 'lost', reason: 'killed by SIGSEGV' })
    return true
  })
  const { items, causes } = await watchCamera({ url: camera.url }, isLost, { containers, clock: hastyClock })
  assert.deepEqual(items.at(-1), { kind: 'end', reason: 'no_frames' })
  assert.match(causes[0]!, /process that reads the stream/)
})

test('unsupported codecs are named as in the settings of cameras', async () => {
  await using camera = await openHttpCamera(sendHead)
  const names = { mpeg4: 'MPEG-4 Visual', mpeg2video: 'MPEG-2', vp9: 'VP9', wmv3: 'wmv3' }
  for (const [codec, name] of Object.entries(names)) {
    const containers = createReader((sink) => {
      sink.onTracks({ video: { codec, config: new Uint8Array() }, audio: undefined })
      return true
    })
    const { last } = await watchCamera({ url: camera.url }, isOffline, { containers, clock: hastyClock })
    assert.ok(last?.state === 'offline' && last.reason === 'no_frames')
    assert.ok(last.detail.startsWith(`The camera sends ${name} video, which is not supported: set`), last.detail)
  }
})

test('content that refers to other URLs is refused by name, and those URLs are not requested', async () => {
  const answers = {
    '#EXTM3U\n#EXTINF:1,\n/part.ts\n': /HLS playlist/,
    '<?xml version="1.0"?><MPD><BaseURL>/part.mp4</BaseURL></MPD>': /DASH playlist/,
    'v=0\r\nc=IN IP4 127.0.0.1\r\n': /description of a stream \(SDP\)/,
    'RTSPtextURL\r\nrtsp://127.0.0.1/part\r\n': /reference to another URL/,
  }
  for (const type of ['video/mp2t', 'application/octet-stream', 'text/plain', '']) {
    for (const [body, detail] of Object.entries(answers)) {
      await using camera = await openHttpCamera((response) => {
        response.writeHead(200, type === '' ? {} : { 'content-type': type }).end(body)
      })
      const containers = createReader(() => assert.fail('no container is read'))
      const { last } = await watchCamera({ url: camera.url }, isOffline, { containers, clock: hastyClock })
      assert.ok(last?.state === 'offline')
      assert.match(last.detail, detail)
      assert.ok(camera.paths.every((path) => path === '/live'))
    }
  }
})
