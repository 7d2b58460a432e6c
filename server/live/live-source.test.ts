import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { CameraHub } from '../hub/camera-hub.ts'
import type { Frame, StreamFormat } from '../media/frame.ts'
import { parseBoxHeader } from '../media/mp4/box-scanner.ts'
import { parseMovieFragment } from '../media/mp4/fragment-head.ts'
import type { LiveChunk, LiveFormat } from './live-chunk.ts'
import { openLiveSource } from './live-source.ts'

const sps = [0x67, 0x4d, 0x40, 0x1f, 0x99]
const format: StreamFormat = {
  video: {
    codec: 'h264',
    width: 640,
    height: 360,
    config: Uint8Array.of(1, 0x4d, 0x40, 0x1f, 0xff, 0xe1, 0, sps.length, ...sps, 1, 0, 2, 0x68, 0xee),
    codecString: 'avc1.4d401f',
  },
  audio: {
    codec: 'aac',
    sampleRate: 16_000,
    channels: 1,
    config: Uint8Array.of(0x14, 0x08),
    codecString: 'mp4a.40.2',
  },
}

/** Of a video frame: 25 frames a second. */
const ticks = 3600
/** Of an audio block: 1024 samples at 16 kHz. */
const blockTicks = 5760
const bytes = 100
const payload = Uint8Array.of(0, 0, 0, bytes - 4, ...new Uint8Array(bytes - 4))

const video = (i: number, isKey: boolean, reorder = 0): Frame => ({
  kind: 'video',
  dts90k: i * ticks,
  pts90k: i * ticks + reorder,
  wallMs: 1_000_000 + i * 40,
  isKey,
  data: payload,
})
const audio = (time90k: number): Frame => ({ ...video(0, true), kind: 'audio', dts90k: time90k, pts90k: time90k })

function open(liveFormat: LiveFormat, options: { maxUnackedBytes?: number; minIntervalMs?: number } = {}) {
  const hub = new CameraHub({ onSinkError: (error) => assert.fail(error as Error) })
  const chunks: LiveChunk[] = []
  const source = openLiveSource({
    hub,
    format: liveFormat,
    send: (chunk) => chunks.push(chunk),
    maxUnackedBytes: 1e9,
    ...options,
  })
  hub.publish({ kind: 'start', runId: 'r1', format })
  return { hub, source, chunks, kinds: () => chunks.map((chunk) => (chunk.isKey ? 'key' : chunk.kind)) }
}

/** Publishes blocks without a break, up to and including a time. Returns the time of the last one. */
function createAudio(hub: CameraHub) {
  let next90k = 0
  return (until90k: number): number => {
    for (; next90k <= until90k; next90k += blockTicks) hub.publish(audio(next90k))
    return next90k - blockTicks
  }
}

const tracksOf = (chunk: LiveChunk) =>
  parseMovieFragment(chunk.data.subarray(0, parseBoxHeader(chunk.data)!.bytes)).tracks

suite('live source', () => {
  test('mp4 gives a fragment per frame with exact decode times and the longest duration of late', () => {
    const { hub, chunks, kinds } = open('mp4')
    hub.publish(video(0, false)) // a run's first frame that is no key frame cannot be shown
    for (const frame of [video(1, true, 7200), audio(ticks), audio(ticks + 5760), video(2, false), video(4, false)]) {
      hub.publish(frame)
    }
    assert.deepEqual(kinds(), ['init', 'key', 'media', 'media', 'media', 'media'])
    const tracks = chunks.slice(1).map((chunk) => tracksOf(chunk)[0]!)
    const at = 90_000 + ticks
    assert.deepEqual(
      tracks.map((track) => [track.trackId, track.baseDecodeTime, track.duration]),
      [
        [1, at, 9000],
        [2, (at * 16) / 90, 1024],
        [2, (at * 16) / 90 + 1024, 1024],
        [1, at + ticks, 3600],
        [1, at + 3 * ticks, 7200],
      ],
    )
    assert.ok(
      chunks[1]!.data.buffer !== payload.buffer && chunks[1]!.data.byteLength === chunks[1]!.data.buffer.byteLength,
    )
  })

  test('hls gives a fragment per group with exact durations, then parts of whole frames', () => {
    const { hub, chunks, kinds } = open('hls')
    const publishAudio = createAudio(hub)
    for (let i = 0; i <= 151; i++) {
      hub.publish(video(i, i === 0 || i === 25 || i === 150))
      publishAudio(i * ticks)
    }
    assert.deepEqual(kinds(), ['init', 'key', ...Array(16).fill('media')])
    assert.deepEqual(
      chunks.slice(1).map((chunk) => [chunk.durationMs, chunk.endsGroup, chunk.partTargetMs]),
      [
        // Two seconds of video show how long parts are at most.
        ...Array(5).fill([360, false, undefined]),
        ...Array(11).fill([360, false, 378]),
        [240, true, 378],
      ],
    )
    const [videoTrack, audioTrack] = tracksOf(chunks[1]!)
    assert.deepEqual([videoTrack!.sampleCount, videoTrack!.duration], [9, 32_400])
    assert.deepEqual([audioTrack!.sampleCount, audioTrack!.duration], [6, 6 * 1024])
    hub.publish({ kind: 'end', reason: 'camera_unreachable' })
    assert.deepEqual(kinds().slice(18), ['key', 'end'])
    assert.equal(chunks[18]!.durationMs, 80)
  })

  test('keyframes gives copies of key frames, no more often than asked', () => {
    const { hub, chunks, kinds } = open('keyframes', { minIntervalMs: 100 })
    for (let i = 0; i < 10; i++) hub.publish(video(i, i !== 1))
    assert.deepEqual(kinds(), ['init', 'key', 'key', 'key', 'key'])
    assert.deepEqual(
      chunks.slice(1).map((chunk) => chunk.wallMs),
      [1_000_000, 1_000_120, 1_000_240, 1_000_360],
    )
    assert.deepEqual(chunks[1]!.data, payload)
    assert.notEqual(chunks[1]!.data.buffer, payload.buffer)
    assert.equal(chunks[1]!.format, format)
  })

  for (const liveFormat of ['mp4', 'mpegts', 'hls', 'keyframes'] as const) {
    test(`${liveFormat}: a reader that does not acknowledge gets one gap, then goes on at a key frame`, () => {
      const { hub, source, chunks, kinds } = open(liveFormat, { maxUnackedBytes: 5000 })
      for (let i = 0; i < 400; i++) hub.publish(video(i, i % 5 === 0))
      const sent = chunks.reduce((sum, chunk) => sum + chunk.data.length, 0)
      assert.ok(sent - chunks[0]!.data.length <= 5000)
      assert.equal(kinds().filter((kind) => kind === 'gap').length, 1)
      assert.equal(kinds().at(-1), 'gap')
      assert.ok(source.stats().dropped > 0)
      const before = chunks.length
      source.ack(1e9)
      for (let i = 401; i < 460; i++) hub.publish(video(i, i % 5 === 0))
      assert.ok(chunks.length > before)
      assert.equal(kinds()[before], 'key')
    })

    test(`${liveFormat}: each run has its own init and end, and a late reader starts with both the run and a key frame`, () => {
      const { hub, chunks, kinds } = open(liveFormat)
      for (let i = 0; i < 3; i++) hub.publish(video(i, i === 0))
      hub.publish({ kind: 'end', reason: 'no_frames' })
      hub.publish({ kind: 'start', runId: 'r2', format })
      for (let i = 0; i < 6; i++) hub.publish(video(i, i % 5 === 0))
      assert.deepEqual(
        kinds().filter((kind) => kind === 'init' || kind === 'end'),
        ['init', 'end', 'init'],
      )
      const late: LiveChunk[] = []
      const source = openLiveSource({
        hub,
        format: liveFormat,
        send: (chunk) => late.push(chunk),
        maxUnackedBytes: 1e9,
      })
      for (let i = 10; i < 25; i++) {
        hub.publish(video(i, i === 10))
        hub.publish(audio(i * ticks))
      }
      assert.deepEqual([late[0]!.kind, late[1]!.isKey], ['init', true])
      source.close()
      const count = late.length
      hub.publish(video(25, true))
      assert.equal(late.length, count)
      assert.ok(chunks.length > 0)
    })
  }

  test('a frame with corrupt bytes costs its group of pictures, not the stream', () => {
    const { hub, source, kinds } = open('mpegts')
    hub.publish(video(0, true))
    hub.publish({ ...video(1, false), data: Uint8Array.of(0, 0, 0, 99, 1) })
    hub.publish(video(2, false))
    hub.publish(video(3, true))
    assert.deepEqual(kinds(), ['init', 'key', 'gap', 'key'])
    assert.equal(source.stats().badFrames, 1)
  })

  test('a codec the format cannot carry gives nothing and harms nobody', () => {
    const { hub, chunks } = open('mpegts')
    hub.publish({ kind: 'start', runId: 'r2', format: { ...format, video: { ...format.video, codec: 'mjpeg' } } })
    hub.publish(video(0, true))
    assert.deepEqual(
      chunks.map((chunk) => chunk.kind),
      ['init', 'end'],
    )
  })

  test('what the hub has kept comes whole, however much that is, and does not count', () => {
    const { hub } = open('mpegts')
    for (let i = 0; i < 50; i++) hub.publish(video(i, i === 0))
    const chunks: LiveChunk[] = []
    const source = openLiveSource({ hub, format: 'mpegts', send: (chunk) => chunks.push(chunk), maxUnackedBytes: 500 })
    assert.equal(chunks.filter(({ isBacklog }) => isBacklog).length, 50)
    hub.publish(video(50, false))
    assert.deepEqual([chunks.length, chunks.at(-1)!.isBacklog], [52, undefined])
    source.ack(chunks.reduce((sum, chunk) => sum + chunk.data.length, 0))
    assert.equal(source.stats().unackedBytes, 0)
    for (let i = 51; i < 60; i++) hub.publish(video(i, false))
    assert.equal(chunks.at(-1)!.kind, 'gap')
    source.close()
  })

  test('hls: groups of huge frames with hardly increasing times are split', () => {
    const { hub, chunks } = open('hls')
    const huge = 1024 * 1024
    const data = Uint8Array.of(0, 0x0f, 0xff, 0xfc, ...new Uint8Array(4)).buffer.transfer(huge)
    for (let i = 0; i < 40; i++) {
      hub.publish({ ...video(0, i === 0), dts90k: i, pts90k: i, data: new Uint8Array(data) })
      hub.publish(audio(i * 2000))
    }
    const media = chunks.filter(({ kind }) => kind === 'media')
    assert.ok(media.length >= 3, `${media.length} chunks`)
    assert.ok(media.every((chunk) => chunk.data.length < 10 * huge))
  })

  test('hls: a fragment waits a limited time for audio that arrives late', () => {
    const { hub, chunks } = open('hls')
    const publishAudio = createAudio(hub)
    // Of the parts: five of nine frames, and what is left of two groups.
    const ends = [0, 50, 100, 150, 200].flatMap((start) => [9, 18, 27, 36, 45, 50].map((frames) => start + frames))
    for (let i = 0; i <= 200; i++) {
      hub.publish(video(i, i % 25 === 0))
      // 0.32 s behind; from the sixth second on there is none.
      const audioTime = publishAudio(Math.min(i - 8, 125) * ticks)
      const sent = ends.filter((end) => audioTime >= end * ticks || i >= end + 13)
      assert.equal(chunks.filter(({ kind }) => kind === 'media').length, sent.length)
    }
    let audioEnd = 16_000
    for (const chunk of chunks.slice(1, 6)) {
      const [video, audio] = tracksOf(chunk)
      assert.equal(audio!.baseDecodeTime, audioEnd)
      audioEnd += audio!.duration
      const missing = ((video!.baseDecodeTime + video!.duration) * 16) / 90 - audioEnd
      assert.ok(Math.abs(missing) < 1024, `${missing} samples`)
    }
  })

  test('hls keeps the tracks of its first run: later runs get silence or lose their audio', () => {
    const without: StreamFormat = { ...format, audio: undefined }
    for (const formats of [
      [format, without, format],
      [without, format, without],
    ]) {
      const hub = new CameraHub({ onSinkError: (error) => assert.fail(error as Error) })
      const source = { chunks: [] as LiveChunk[] }
      const opened = openLiveSource({
        ...{ hub, format: 'hls' as const, maxUnackedBytes: 1e9 },
        send: (chunk) => source.chunks.push(chunk),
      })
      for (const [run, each] of formats.entries()) {
        hub.publish({ kind: 'start', runId: `${run}`, format: each })
        for (let i = 0; i <= 75; i++) {
          hub.publish(video(i, i % 25 === 0))
          if (each.audio) hub.publish(audio(i * ticks))
        }
      }
      hub.publish({ kind: 'end', reason: 'camera_unreachable' })
      opened.close()
      const hasAudio = formats[0]!.audio !== undefined
      let audioEnd: number | undefined
      for (const chunk of source.chunks) {
        if (chunk.kind === 'init') {
          assert.equal(Buffer.from(chunk.data).includes('mp4a'), hasAudio)
          audioEnd = undefined
        }
        if (chunk.kind !== 'media') continue
        const [videoTrack, track] = tracksOf(chunk)
        assert.deepEqual([videoTrack?.trackId, track?.trackId], hasAudio ? [1, 2] : [1, undefined])
        if (!track) continue
        assert.ok(audioEnd === undefined || Math.abs(track.baseDecodeTime - audioEnd) <= 1024 * 1.3, 'audio goes on')
        audioEnd = track.baseDecodeTime + track.duration
        const videoEnd = ((videoTrack!.baseDecodeTime + videoTrack!.duration) * 16) / 90
        assert.ok(Math.abs(audioEnd - videoEnd) <= 2 * 1280, 'audio ends with the video')
      }
      assert.ok(source.chunks.filter(({ kind }) => kind === 'media').length >= 9)
    }
  })
})
