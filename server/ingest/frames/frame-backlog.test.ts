// Tests how a camera stream treats frames that arrived while the thread was blocked: an unknown clock is derived from
// the frame that waited least.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { audioVideoSdp, samplePps, sampleSps, videoSdp } from '../../../test/support/ingest/scripted-camera.ts'
import { packetizeH264 } from '../../../test/support/media/h264/packetizer.ts'
import type { HubItem } from '../../hub/hub-item.ts'
import type { Frame } from '../../media/frame.ts'
import { writeRtpPacket } from '../../media/rtp/rtp-header.ts'
import { parseSdp } from '../../media/sdp/parse-sdp.ts'
import { ArrivalClock } from '../clock/arrival-clock.ts'
import { planStreams } from '../plan/stream-plan.ts'
import { createCameraStats } from './camera-stats.ts'
import { CameraStream, type CameraStreamOptions } from './camera-stream.ts'

const startMs = 1_700_000_000_000
const frameMs = 40

type Opening = Partial<Pick<CameraStreamOptions, 'floorMs' | 'memory'>> & {
  readonly sdp?: string
  readonly firstIndex?: number
}
type Kept = { readonly baseTicks: number; readonly byteMs?: number; readonly ticks?: () => number }
type Sending = {
  readonly baseTicks: number
  readonly blockedMs?: number
  readonly maxWaiting?: number
  readonly silentMs?: number
}

/** A camera that sends a frame every 40 ms to a thread that is blocked now and then. */
function open({ floorMs = 0, sdp = videoSdp, memory, firstIndex = 0 }: Opening = {}) {
  const time = { ms: startMs, standstillBeginMs: 0, standstillEndMs: Number.NEGATIVE_INFINITY }
  const items: HubItem[] = []
  const stats = createCameraStats()
  const stream = new CameraStream({
    plan: planStreams(parseSdp(sdp)),
    arrivalClock: new ArrivalClock({ nowMs: () => time.ms, monotonicMs: () => time.ms, sleep: async () => {} }),
    reads: {
      sinceStandstillMs: () => time.ms - time.standstillEndMs,
      sinceStandstillBeganMs: () => time.ms - time.standstillBeginMs,
    },
    stats,
    floorMs,
    ...(memory && { memory }),
    createRunId: () => 'run',
    publish: (item) => items.push(item),
    onRun: () => {},
  })
  let sequence = 0
  let audioSequence = 0
  let nextIndex = firstIndex
  const waiting: { index: number; baseTicks: number }[] = []
  const sentMs: number[] = []
  const deliver = ({ index, baseTicks }: { index: number; baseTicks: number }) => {
    const isKey = index % 25 === 0
    const slice = new Uint8Array(300).fill(0x55)
    slice.set([0x60 | (isKey ? 5 : 1), 0x88])
    slice.set([1 + (index % 255)], 299)
    const payloads = packetizeH264(isKey ? [sampleSps['640x360'], samplePps, slice] : [slice])
    for (const [i, payload] of payloads.entries()) {
      const timestamp = (baseTicks + index * frameMs * 90) >>> 0
      const isMarked = i === payloads.length - 1
      const packet = writeRtpPacket(
        { payloadType: 96, isMarked, sequence: sequence++ & 0xffff, timestamp, ssrc: 1 },
        payload,
      )
      stream.takeVideoPacket(packet, 0, packet.length)
    }
  }
  /**
   * Sends `count` frames. The thread reads those that arrived while it was blocked only when it continues, almost
   * at once. Beyond `maxWaiting`, the camera drops frames, because nobody reads them. After the last one, it is silent
   * for `silentMs`.
   */
  const send = (count: number, sending: Sending) => {
    const { baseTicks, blockedMs = 0, maxWaiting = Number.POSITIVE_INFINITY, silentMs = 0 } = sending
    const untilMs = time.ms + blockedMs
    if (waiting.length === 0 && blockedMs > 0) time.standstillBeginMs = time.ms
    for (let i = 0; i < count; i++) {
      const index = nextIndex++
      if (waiting.length < maxWaiting) {
        sentMs.push(time.ms)
        waiting.push({ index, baseTicks })
      }
      time.ms += frameMs + (i === count - 1 ? silentMs : 0)
      if (time.ms < untilMs) continue
      if (waiting.length > 1) time.standstillEndMs = time.ms
      for (const each of waiting.splice(0)) {
        deliver(each)
        time.ms += 0.0005
      }
    }
  }
  /**
   * Sends the last `count` frames before now and those that are taken meanwhile, each `byteMs` after the other, as a
   * camera or a server does that keeps its last group of pictures.
   */
  const sendKept = (count: number, { baseTicks, byteMs = 0.2, ticks = () => baseTicks }: Kept) => {
    for (let takenMs = time.ms - count * frameMs; takenMs < time.ms; takenMs += frameMs) {
      sentMs.push(takenMs)
      deliver({ index: nextIndex++, baseTicks: ticks() })
      if (sdp === audioVideoSdp) sendAudio(takenMs)
      time.ms += byteMs
    }
    // The next frame is taken now.
    time.ms = sentMs.at(-1)! + frameMs
  }
  const sendAudio = (takenMs: number) => {
    const timestamp = Math.round((takenMs - startMs) * 48) >>> 0
    const header = { payloadType: 97, isMarked: true, sequence: audioSequence++ & 0xffff, timestamp, ssrc: 2 }
    // AAC-hbr: 16 bits of header lengths, then one header of 13 bits of size and 3 of index.
    const packet = writeRtpPacket(header, new Uint8Array([0, 16, 0, 4 << 3, 1, 2, 3, 4]))
    stream.takeAudioPacket(packet, 0, packet.length)
  }
  const frames = () => items.filter((item): item is Frame & { kind: 'video' } => item.kind === 'video')
  return { time, items, stats, stream, send, sendKept, sendAudio, sentMs, frames }
}

function checkTimes(frames: readonly Frame[], sentMs: readonly number[]): void {
  assert.equal(frames.length, sentMs.length)
  for (const [i, frame] of frames.entries()) {
    const errorMs = frame.wallMs - sentMs[i]!
    assert.ok(Math.abs(errorMs) <= 100, `frame ${i} is ${errorMs} ms off`)
  }
}

test('a camera that begins while the thread is blocked has the correct time from its first frame', () => {
  const { send, sentMs, frames } = open()
  send(75, { baseTicks: 12_345, blockedMs: 3000 })
  send(100, { baseTicks: 12_345 })
  checkTimes(frames(), sentMs)
})

test('a source with another clock that begins while the thread is blocked has the correct time', () => {
  const { send, sentMs, frames, items } = open()
  send(100, { baseTicks: 0 })
  send(75, { baseTicks: 1_000_000_000, blockedMs: 3000 })
  send(100, { baseTicks: 1_000_000_000 })
  assert.equal(items.filter(({ kind }) => kind === 'start').length, 2)
  checkTimes(frames(), sentMs)
})

test('frames with a known clock are not held after the thread was blocked', () => {
  const { send, sentMs, frames } = open()
  send(100, { baseTicks: 0 })
  send(75, { baseTicks: 0, blockedMs: 3000 })
  checkTimes(frames(), sentMs)
})

test('a known clock survives a standstill of an hour', () => {
  for (const seconds of [12, 30, 45, 600, 3600]) {
    // The buffers of both sides keep everything, or some seconds; or the camera waits with a frame and then goes on.
    for (const maxWaiting of [Number.POSITIVE_INFINITY, 200, 20, 1]) {
      const { send, sentMs, frames, items } = open()
      send(1000, { baseTicks: 0 })
      send(seconds * 25, { baseTicks: 0, blockedMs: seconds * 1000, maxWaiting })
      send(1000, { baseTicks: 0 })
      checkTimes(frames(), sentMs)
      assert.equal(items.filter(({ kind }) => kind === 'start').length, 1, `${seconds} s, ${maxWaiting} frames`)
    }
  }
})

test('a known clock survives many standstills with hardly a read between them', () => {
  const { send, sentMs, frames, items } = open()
  send(500, { baseTicks: 0 })
  for (let i = 0; i < 20; i++) send(30 * 25, { baseTicks: 0, blockedMs: 30_000, maxWaiting: 100 })
  send(500, { baseTicks: 0 })
  checkTimes(frames(), sentMs)
  assert.equal(items.filter(({ kind }) => kind === 'start').length, 1)
})

test('a connection that ends soon after the thread was blocked loses no frames', () => {
  const { send, sentMs, frames, stream } = open()
  send(75, { baseTicks: 0, blockedMs: 3000 })
  assert.equal(frames().length, 0)
  stream[Symbol.dispose]()
  checkTimes(frames(), sentMs)
})

test('a camera that begins with its last group of pictures has the correct time from its first frame', () => {
  // All at once, or at up to five times the speed at which it was taken until the camera is at the present.
  for (const byteMs of [0, 0.3, 8, 16]) {
    for (const seconds of byteMs < 16 ? [1, 4, 12] : [1, 4]) {
      const { send, sendKept, sentMs, frames, items } = open()
      sendKept(seconds * 25, { baseTicks: 77, byteMs })
      send(100, { baseTicks: 77 })
      assert.equal(items.filter(({ kind }) => kind === 'start').length, 1)
      checkTimes(frames(), sentMs)
    }
  }
})

test('a clock that was set within the group of pictures that a camera kept has the correct times', () => {
  for (const stepMs of [-3_600_000, -5000, 5000, 3_600_000]) {
    const { send, sendKept, sentMs, frames } = open()
    let sent = 0
    const ticks = () => 1e9 + (sent++ < 60 ? 0 : stepMs * 90)
    sendKept(100, { baseTicks: 0, ticks })
    send(100, { baseTicks: 1e9 + stepMs * 90 })
    checkTimes(frames(), sentMs)
  }
})

test('audio that a camera kept with its last group of pictures stays with it', () => {
  const { send, sendKept, sendAudio, time, items } = open({ sdp: audioVideoSdp })
  const beginMs = time.ms - 4000
  sendKept(100, { baseTicks: 0 })
  for (let i = 0; i < 100; i++) {
    sendAudio(time.ms)
    send(1, { baseTicks: 0 })
  }
  const audio = items.filter(
    (item): item is Frame & { kind: 'audio' } => item.kind === 'audio' && item.data.length === 4,
  )
  assert.ok(audio.length > 190, `${audio.length} blocks`)
  for (const [i, { wallMs }] of audio.slice(-150).entries()) {
    const errorMs = wallMs - beginMs - (audio.length - 150 + i + 200 - audio.length) * frameMs
    assert.ok(Math.abs(errorMs) < 100, `block ${i} is ${errorMs} ms off`)
  }
})

test('a camera that repeats frames of the connection before begins where they end', () => {
  const { send, sendKept, sentMs, frames } = open({ floorMs: startMs - 1500 })
  sendKept(100, { baseTicks: 0 })
  send(100, { baseTicks: 0 })
  // A group lasts a second: the next one begins within it.
  const fresh = sentMs.filter((ms) => ms >= startMs - 1000)
  assert.equal(frames()[0]!.isKey, true)
  checkTimes(frames(), fresh)
})

test('a repeated key frame is known by its bytes, if the clock of its connection is later than that before', () => {
  const memory = { clockRate: 1, setMs: undefined, lastKey: undefined }
  const before = open({ memory })
  before.send(26, { baseTicks: 0 })
  before.stream[Symbol.dispose]()
  assert.equal(before.frames().at(-1)!.isKey, true)
  const floorMs = before.stream.lastWallMs
  for (const { lateMs, isRepeated } of [
    { lateMs: 60, isRepeated: true },
    { lateMs: 450, isRepeated: true },
    { lateMs: 550, isRepeated: false },
  ]) {
    const after = open({ memory: { ...memory }, floorMs, firstIndex: 25 })
    after.time.ms = floorMs + lateMs - frameMs
    after.send(100, { baseTicks: 5e8 })
    checkTimes(after.frames(), isRepeated ? after.sentMs.slice(25) : after.sentMs)
  }
  const another = open({ memory: { ...memory }, floorMs, firstIndex: 50 })
  another.time.ms = floorMs + 60 - frameMs
  another.send(100, { baseTicks: 5e8 })
  checkTimes(another.frames(), another.sentMs)
})

test('a camera whose timestamps are no clock is dated by the arrival of its frames, and its owner is told', () => {
  const kinds = { constant: 0, 'numbers of frames': 1, milliseconds: frameMs }
  for (const [kind, ticks] of Object.entries(kinds)) {
    const { send, sentMs, frames, stats } = open()
    for (let i = 0; i < 1500; i++) send(1, { baseTicks: i * (ticks - frameMs * 90) })
    assert.deepEqual([...stats.deviations], ['unusable_timestamps'], kind)
    const all = frames()
    assert.ok(all.length >= sentMs.length - 50, `${kind}: ${all.length} frames`)
    // Until it is known, those of the first seconds are only roughly right.
    for (const [i, { wallMs }] of all.slice(-1200).entries()) {
      const errorMs = wallMs - sentMs.at(i - 1200)!
      assert.ok(Math.abs(errorMs) <= 100, `${kind}: frame ${i} is ${errorMs} ms off`)
    }
  }
})

test('a clock that steps back a little while the thread is blocked has the correct times', () => {
  for (const stepMs of [-1500, -600, -300]) {
    const { send, sentMs, frames } = open()
    send(500, { baseTicks: 200_000 })
    send(27, { baseTicks: 200_000, blockedMs: 3000 })
    send(50, { baseTicks: 200_000 + stepMs * 90, blockedMs: 2000 })
    send(500, { baseTicks: 200_000 + stepMs * 90 })
    const all = frames()
    assert.equal(all.length, sentMs.length)
    for (const [i, { wallMs }] of all.entries()) {
      const errorMs = wallMs - sentMs[i]!
      assert.ok(Math.abs(errorMs) <= 200, `${stepMs} ms: frame ${i} is ${errorMs} ms off`)
    }
  }
})

test('a clock that is set during a long standstill continues where it was', () => {
  for (const stepMs of [-3_600_000, 3_600_000]) {
    const { send, sentMs, frames } = open()
    send(510, { baseTicks: 1e9 })
    send(130, { baseTicks: 1e9, blockedMs: 60_000 })
    send(1370, { baseTicks: 1e9 + stepMs * 90, blockedMs: 55_000 })
    send(500, { baseTicks: 1e9 + stepMs * 90 })
    checkTimes(frames(), sentMs)
  }
})

test('a clock that is set during a standstill continues, whatever of it has not waited for the thread', () => {
  for (const stepMs of [-3_600_000, 3_600_000]) {
    // The buffers of both sides keep less than the standstill lasts, or the camera is silent at its end.
    for (const part of [
      { count: 1370, blockedMs: 55_000, maxWaiting: 300 },
      { count: 400, blockedMs: 25_000, silentMs: 9000 },
    ]) {
      const { count, ...rest } = part
      const { send, sentMs, frames } = open()
      const silentTicks = ('silentMs' in part ? 9000 : 0) * 90
      send(510, { baseTicks: 1e9 })
      send(130, { baseTicks: 1e9, blockedMs: 60_000 })
      send(count, { baseTicks: 1e9 + stepMs * 90, ...rest })
      send(500, { baseTicks: 1e9 + stepMs * 90 + silentTicks })
      checkTimes(frames(), sentMs)
    }
  }
})

test('a camera that was silent before a short standstill, and has another clock, has the correct time', () => {
  const { send, sentMs, frames, time } = open()
  send(500, { baseTicks: 1e9 })
  time.ms += 1500
  send(25, { baseTicks: 5e9, blockedMs: 900 })
  send(100, { baseTicks: 5e9 })
  checkTimes(frames(), sentMs)
})

test('a clock that was set while the network stood still has the correct times', () => {
  for (const stepMs of [-3_600_000, 3_600_000]) {
    const { send, sendKept, sentMs, frames, time } = open()
    send(510, { baseTicks: 1e9 })
    time.ms += 1500 + 140 * frameMs
    // What was taken meanwhile comes at once; the thread was never blocked.
    sendKept(140, { baseTicks: 1e9 + (stepMs + 1500) * 90 })
    send(200, { baseTicks: 1e9 + (stepMs + 1500) * 90 })
    checkTimes(frames(), sentMs)
  }
})

test('a clock that steps back a little right after the camera was connected has the correct times', () => {
  for (const stepMs of [-1900, -1100, -400]) {
    for (const after of [1, 2, 3]) {
      const { send, sentMs, frames, items } = open()
      send(after, { baseTicks: 1e9 })
      send(200, { baseTicks: 1e9 + stepMs * 90 })
      checkTimes(frames(), sentMs)
      // Players date frames by the axis of the run.
      let originMs = Number.NaN
      let i = 0
      for (const item of items) {
        if (item.kind === 'start') originMs = Number.NaN
        if (item.kind !== 'video') continue
        if (Number.isNaN(originMs)) originMs = item.wallMs - item.pts90k / 90
        const errorMs = originMs + item.pts90k / 90 - sentMs[i++]!
        assert.ok(Math.abs(errorMs) <= 100, `${stepMs} ms after ${after} frames: shown ${errorMs} ms late`)
      }
    }
  }
})

test('a clock that lost seconds during a standstill, of which no frames are left, is right soon after it', () => {
  const { send, sentMs, frames } = open()
  send(1000, { baseTicks: 1e9 })
  send(650, { baseTicks: 1e9, blockedMs: 26_000, maxWaiting: 100 })
  send(500, { baseTicks: 1e9 - 6600 * 90 })
  const all = frames()
  assert.equal(all.length, sentMs.length)
  // The clock counts as lost after some seconds, and a run begins at the next key frame, one second later at most.
  checkTimes(all.slice(0, 1100), sentMs.slice(0, 1100))
  checkTimes(all.slice(1200), sentMs.slice(1200))
})
