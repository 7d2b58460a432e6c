import assert from 'node:assert/strict'
import { test } from 'node:test'
import { audioVideoSdp, samplePps, sampleSps, videoSdp } from '../../../test/support/ingest/scripted-camera.ts'
import { packetizeAac } from '../../../test/support/media/aac/packetizer.ts'
import { packetizeH264 } from '../../../test/support/media/h264/packetizer.ts'
import type { HubItem } from '../../hub/hub-item.ts'
import { writeRtpPacket } from '../../media/rtp/rtp-header.ts'
import { parseSdp } from '../../media/sdp/parse-sdp.ts'
import { createCameraMemory } from '../connection/camera-memory.ts'
import { createCameraStats } from '../frames/camera-stats.ts'
import { CameraStream } from '../frames/camera-stream.ts'
import { JpegStream } from '../frames/jpeg-stream.ts'
import { RunLimit } from '../frames/run-limit.ts'
import { planStreams } from '../plan/stream-plan.ts'
import { ArrivalClock } from './arrival-clock.ts'

const startMs = 1_700_000_000_000

function createSettableClock() {
  const time = { monotonicMs: 0, wallMs: startMs }
  const clock = { nowMs: () => time.wallMs, monotonicMs: () => time.monotonicMs, sleep: () => Promise.resolve() }
  const pass = (ms: number, ppm = 0) => {
    time.monotonicMs += ms
    time.wallMs += ms * (1 + ppm / 1e6)
  }
  return { time, clock, pass }
}

test('a process that is suspended between two reads of the clocks does not believe that one was set', () => {
  for (const suspendedAt of [1, 2, 3, 4, 5, 6]) {
    const { time, clock } = createSettableClock()
    let reads = 0
    const read = <T>(value: () => T) => {
      const result = value()
      if (++reads === suspendedAt) {
        time.monotonicMs += 10_000
        time.wallMs += 10_000
      }
      return result
    }
    const arrivals = new ArrivalClock({
      ...clock,
      nowMs: () => read(() => time.wallMs),
      monotonicMs: () => read(() => time.monotonicMs),
    })
    for (let i = 0; i < 10; i++) arrivals.nowMs()
    assert.equal(arrivals.setMs, 0, `after read ${suspendedAt}`)
    assert.equal(arrivals.nowMs(), time.wallMs)
  }
})

test('small errors of the system clock are followed slowly, and steps of more than two seconds are summed separately', () => {
  for (const stepMs of [-1900, 1900]) {
    const { time, clock, pass } = createSettableClock()
    const arrivals = new ArrivalClock(clock)
    let lastMs = arrivals.nowMs()
    for (let i = 0; i < 50_000; i++) {
      pass(40, 200)
      if (i === 100) time.wallMs += stepMs
      const nowMs = arrivals.nowMs()
      assert.ok(Math.abs(nowMs - lastMs - 40) < 0.11)
      lastMs = nowMs
    }
    assert.equal(arrivals.setMs, 0)
    assert.ok(Math.abs(lastMs - time.wallMs) < 1)
  }
  for (const stepMs of [-864_000_000, -3_600_000, -2100, 2100, 3_600_000, 864_000_000]) {
    const { time, clock, pass } = createSettableClock()
    const arrivals = new ArrivalClock(clock)
    let lastMs = arrivals.nowMs()
    for (let i = 0; i < 1000; i++) {
      pass(40)
      if (i === 100) time.wallMs += stepMs
      const nowMs = arrivals.nowMs()
      assert.ok(Math.abs(nowMs - lastMs - 40) < 0.11, 'the arrival clock does not jump')
      assert.equal(nowMs + arrivals.setMs, time.wallMs)
      lastMs = nowMs
    }
    assert.equal(arrivals.setMs, stepMs)
  }
})

test('a suspension of the process between reading the two clocks is not taken for a step', () => {
  const { time, clock, pass } = createSettableClock()
  let looks = 0
  const arrivals = new ArrivalClock({
    ...clock,
    nowMs: () => {
      if (++looks === 10) pass(5000)
      return time.wallMs
    },
  })
  for (let i = 0; i < 100; i++) {
    pass(40)
    arrivals.nowMs()
  }
  assert.equal(arrivals.setMs, 0)
})

const steps = [2500, -2500, -3_600_000, 7_200_000, -864_000_000, 864_000_000, -5000, 60_000]

/**
 * A camera that sends 25 frames per second with a key frame every 2 s and reconnects now and then. The system clock is
 * set every half hour.
 */
function record(kind: 'rtp' | 'jpeg', hours: number) {
  const { time, clock, pass } = createSettableClock()
  const arrivalClock = new ArrivalClock(clock)
  const memory = createCameraMemory()
  const stats = createCameraStats()
  const frames: { wallMs: number; run: number; systemMs: number; trueMs: number }[] = []
  const starts: (number | undefined)[] = []
  const publish = (item: HubItem) => {
    if (item.kind === 'start') starts.push(item.clockSetMs)
    else if (item.kind === 'video')
      frames.push({ wallMs: item.wallMs, run: starts.length, systemMs: time.wallMs, trueMs: time.monotonicMs })
  }
  const common = { arrivalClock, memory, stats, publish, createRunId: () => String(starts.length), onRun: () => {} }
  const open = () => {
    const options = { ...common, floorMs: memory.lastWallMs }
    if (kind === 'jpeg') return new JpegStream({ ...options, clock, runLimit: new RunLimit() })
    return new CameraStream({ ...options, plan: planStreams(parseSdp(videoSdp)) })
  }
  let stream = open()
  let sequence = 0
  let sets = 0
  const fps = kind === 'rtp' ? 25 : 2
  for (let i = 0; i < hours * 3600 * fps; i++) {
    pass(1000 / fps, 500)
    if (i % (1800 * fps) === 700) time.wallMs += steps[sets++ % steps.length]!
    // The clock is set while the camera is disconnected in half of the cases.
    if (i % (3600 * fps) === 700 - 3) {
      memory.lastWallMs = stream.lastWallMs
      stream = open()
    }
    if (stream instanceof JpegStream) {
      stream.take(jpeg)
      continue
    }
    const slice = Uint8Array.of(0x60 | (i % 50 === 0 ? 5 : 1), 0x88, 1, 1)
    for (const payload of packetizeH264(i % 50 === 0 ? [sampleSps['640x360'], samplePps, slice] : [slice])) {
      const isMarked = payload[0] === slice[0]
      const fields = { payloadType: 96, isMarked, sequence: sequence++ & 0xffff, timestamp: (i * 3600) >>> 0, ssrc: 1 }
      const packet = writeRtpPacket(fields, payload)
      stream.takeVideoPacket(packet, 0, packet.length)
    }
  }
  return { frames, starts, sets }
}

/** The header of a JPEG of 16 × 16 pixels. */
const jpeg = Uint8Array.from(
  Buffer.from(`ffd8ffdb004300${'01'.repeat(64)}ffc0000b080010001001011100ffda0008010100003f0000ffd9`, 'hex'),
)

for (const kind of ['rtp', 'jpeg'] as const) {
  test(`each step of the clock by -10 to +10 days begins a run at the next key frame, labeled with the new time (${kind})`, () => {
    const { frames, starts, sets } = record(kind, kind === 'rtp' ? 8 : 24)
    assert.ok(sets >= 15)
    assert.deepEqual(
      starts.flatMap((ms) => (ms === undefined ? [] : [Math.round(ms / 100) * 100])),
      Array.from({ length: sets }, (_, i) => steps[i % steps.length]),
      'each step is reported once, even if the camera was disconnected',
    )
    let before: (typeof frames)[number] | undefined
    let staleFrames = 0
    for (const frame of frames) {
      const isSameRun = before?.run === frame.run
      if (before && isSameRun) assert.ok(frame.wallMs >= before.wallMs, 'the time never goes back within a run')
      if (Math.abs(frame.wallMs - frame.systemMs) > 500) staleFrames++
      before = frame
    }
    assert.ok(
      staleFrames <= sets * 50,
      `${staleFrames} frames before the next key frame have the time from before the step`,
    )
  })
}

test('audio and silence have the same time as the video after each step of the clock', () => {
  const { time, clock, pass } = createSettableClock()
  const stats = createCameraStats()
  let worstMs = 0
  let runs = 0
  let video = { pts90k: 0, wallMs: 0 }
  const stream = new CameraStream({
    plan: planStreams(parseSdp(audioVideoSdp)),
    arrivalClock: new ArrivalClock(clock),
    ...{ stats, floorMs: 0, createRunId: () => String(++runs), onRun: () => {} },
    publish(item) {
      if (item.kind === 'video') video = item
      else if (item.kind === 'audio') {
        const expectedMs = video.wallMs + (item.pts90k - video.pts90k) / 90
        worstMs = Math.max(worstMs, Math.abs(item.wallMs - expectedMs))
      }
    },
  })
  const sequences = { video: 0, audio: 0 }
  const send = (kind: 'video' | 'audio', payload: Uint8Array, isMarked: boolean, timestamp: number) => {
    const isVideo = kind === 'video'
    const fields = { payloadType: isVideo ? 96 : 97, isMarked, timestamp: timestamp >>> 0, ssrc: isVideo ? 1 : 2 }
    const packet = writeRtpPacket({ ...fields, sequence: sequences[kind]++ & 0xffff }, payload)
    if (isVideo) stream.takeVideoPacket(packet, 0, packet.length)
    else stream.takeAudioPacket(packet, 0, packet.length)
  }
  for (let i = 0, set = 0; i < 60 * 25 * steps.length; i++) {
    pass(40)
    if (i % 1500 === 700) time.wallMs += steps[set++]!
    const isKey = i % 50 === 0
    const slice = Uint8Array.of(0x60 | (isKey ? 5 : 1), 0x88, 1, 1)
    for (const payload of packetizeH264(isKey ? [sampleSps['640x360'], samplePps, slice] : [slice]))
      send('video', payload, payload[0] === slice[0], i * 3600)
    // There is no audio during half of each minute.
    if (i % 1500 < 750) send('audio', packetizeAac([Uint8Array.of(1)]), true, i * 1920)
  }
  assert.equal(runs, steps.length + 1)
  assert.ok(stats.audioFrames > 1000)
  assert.ok(worstMs < 500, `audio is ${worstMs} ms off`)
})
