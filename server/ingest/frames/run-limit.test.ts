import assert from 'node:assert/strict'
import { test } from 'node:test'
import { samplePps, sampleSps, videoSdp } from '../../../test/support/ingest/scripted-camera.ts'
import { packetizeH264 } from '../../../test/support/media/h264/packetizer.ts'
import type { HubItem } from '../../hub/hub-item.ts'
import type { Frame } from '../../media/frame.ts'
import { writeRtpPacket } from '../../media/rtp/rtp-header.ts'
import { parseSdp } from '../../media/sdp/parse-sdp.ts'
import { ArrivalClock } from '../clock/arrival-clock.ts'
import { planStreams } from '../plan/stream-plan.ts'
import { createCameraStats } from './camera-stats.ts'
import { CameraStream } from './camera-stream.ts'
import { JpegStream } from './jpeg-stream.ts'
import { RunLimit } from './run-limit.ts'

type Size = keyof typeof sampleSps

/**
 * Plays one frame every 40 ms. `sizeOf`: the size of a key frame, or undefined if the frame is not a key frame.
 * `jumpOf`: a jump of the camera's clock in ms.
 */
function play(
  seconds: number,
  sizeOf: (frame: number) => Size | undefined,
  { jumpOf = () => 0, runLimit = new RunLimit() }: { jumpOf?: (frame: number) => number; runLimit?: RunLimit } = {},
) {
  const time = { ms: 1_700_000_000_000 }
  const clock = { nowMs: () => time.ms, monotonicMs: () => time.ms, sleep: async () => {} }
  const items: HubItem[] = []
  const stats = createCameraStats()
  const stream = new CameraStream({
    ...{ plan: planStreams(parseSdp(videoSdp)), arrivalClock: new ArrivalClock(clock), stats, floorMs: 0, runLimit },
    createRunId: () => `run ${stats.runs}`,
    publish: (item) => items.push(item),
    onRun: () => {},
  })
  let sequence = 0
  let ticks = 0
  for (let i = 0; i < seconds * 25; i++) {
    time.ms += 40
    ticks += 3600 + jumpOf(i) * 90
    const size = sizeOf(i)
    const slice = Uint8Array.of(0x60 | (size ? 5 : 1), 0x88, i >> 8, i)
    const payloads = packetizeH264(size ? [sampleSps[size], samplePps, slice] : [slice])
    for (const [n, payload] of payloads.entries()) {
      const isMarked = n === payloads.length - 1
      const fields = { payloadType: 96, isMarked, sequence: sequence++ & 0xffff, timestamp: ticks >>> 0, ssrc: 1 }
      const packet = writeRtpPacket(fields, payload)
      stream.takeVideoPacket(packet, 0, packet.length)
    }
  }
  stream[Symbol.dispose]()
  stream.collectStats()
  return { items, stats, frames: items.filter((item): item is Frame => item.kind === 'video') }
}

const numberOf = ({ data }: Frame) => (data.at(-2)! << 8) | data.at(-1)!
const startsOf = (items: readonly HubItem[]) => items.filter(({ kind }) => kind === 'start').length

/** Checks that gaps of a run are reported: there is no hole of more than a second between two frames of a run. */
function checkHoles(items: readonly HubItem[]): void {
  let lastMs: number | undefined
  for (const item of items) {
    if (item.kind === 'start' || item.kind === 'end') lastMs = undefined
    if (item.kind !== 'video') continue
    assert.ok(lastMs === undefined || item.wallMs - lastMs <= 1100, `a hole of ${item.wallMs - lastMs!} ms`)
    lastMs = item.wallMs
  }
}

test('parameter sets that alternate at each key frame do not begin a file each time', () => {
  const { items, stats, frames } = play(20, (i) => (i % 2 === 0 ? '640x360' : '1920x1080'))
  assert.ok(startsOf(items) <= 13, `${startsOf(items)} runs in 20 s`)
  assert.equal(frames.length + stats.droppedFrames, 500, 'each frame is published or counted')
  assert.ok(frames.length >= 200, `the frames of one size are kept: ${frames.length} of 500`)
  checkHoles(items)
})

test('groups of pictures that alternate in format are kept or reported as a gap, and each run has one format', () => {
  const { items, stats, frames } = play(120, (i) =>
    i % 50 === 0 ? (i % 100 === 0 ? '640x360' : '1920x1080') : undefined,
  )
  assert.ok(startsOf(items) <= 8 + 120 / 5 + 1, `${startsOf(items)} runs`)
  assert.equal(frames.length + stats.droppedFrames, 3000)
  checkHoles(items)
  let width = 0
  for (const item of items) {
    if (item.kind === 'start') width = item.format.video.width
    else if (item.kind === 'end') assert.equal(item.reason, 'stream_changed')
    else {
      const isSmall = Math.floor(numberOf(item as Frame) / 50) % 2 === 0
      assert.equal(width, isSmall ? 640 : 1920, `frame ${numberOf(item as Frame)}`)
    }
  }
})

test('a change of settings and its reversal lose no frames', () => {
  const { items, frames } = play(60, (i) => (i % 25 === 0 ? (i < 500 || i > 900 ? '640x360' : '1920x1080') : undefined))
  assert.equal(startsOf(items), 3)
  assert.equal(frames.length, 1500)
})

test('a clock that jumps at each key frame does not begin a file each time and loses no frames', () => {
  const { items, frames } = play(60, (i) => (i % 5 === 0 ? '640x360' : undefined), {
    jumpOf: (i) => (i % 5 === 2 ? (i % 2 === 0 ? 7000 : -5000) : 0),
  })
  assert.ok(startsOf(items) <= 8 + 60 / 5 + 1, `${startsOf(items)} runs`)
  assert.equal(frames.length, 1500)
})

test('consecutive connections of a camera share one run limit', () => {
  const runLimit = new RunLimit()
  let runs = 0
  for (let i = 0; i < 50; i++) runs += startsOf(play(0.4, (n) => (n === 0 ? '640x360' : undefined), { runLimit }).items)
  assert.ok(runs <= 8, `${runs} runs at the same time`)
})

test('a session that is lost every five seconds is never limited', () => {
  const limit = new RunLimit()
  for (let ms = 0; ms < 3_600_000; ms += 5000) assert.ok(limit.take(ms), `at ${ms} ms`)
})

test('a clock that is set back does not limit a camera', () => {
  const limit = new RunLimit()
  while (limit.take(86_400_000)) {}
  assert.equal(limit.take(0), false)
  assert.equal(limit.take(5000), true)
})

const jpegOf = (width: number, height: number) =>
  Uint8Array.of(
    ...[0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0],
    ...[0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x55, 0xff, 0xd9],
  )

test('JPEGs of alternating size do not begin a file each time', () => {
  const time = { ms: 1_700_000_000_000 }
  const clock = { nowMs: () => time.ms, monotonicMs: () => time.ms, sleep: async () => {} }
  const items: HubItem[] = []
  const stats = createCameraStats()
  const stream = new JpegStream({
    ...{ clock, arrivalClock: new ArrivalClock(clock), stats, floorMs: 0, runLimit: new RunLimit() },
    createRunId: () => 'run',
    publish: (item) => items.push(item),
    onRun: () => {},
  })
  for (let i = 0; i < 500; i++) {
    time.ms += 40
    stream.take(i % 2 === 0 ? jpegOf(640, 360) : jpegOf(320, 180))
  }
  assert.ok(startsOf(items) <= 13, `${startsOf(items)} runs in 20 s`)
  assert.equal(stats.videoFrames + stats.droppedFrames, 500)
  assert.ok(stats.videoFrames >= 200, `${stats.videoFrames} frames`)
  checkHoles(items)
  // Then each frame has another size, so none fits into the current run.
  items.length = 0
  for (let i = 0; i < 500; i++) {
    time.ms += 40
    stream.take(jpegOf(16 + i, 16))
  }
  assert.ok(startsOf(items) <= 6)
  assert.ok(items.some((item) => item.kind === 'end' && item.reason === 'stream_changed'))
  checkHoles(items)
})
