import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { audioVideoSdp, samplePps, sampleSps, videoSdp } from '../../../test/support/ingest/scripted-camera.ts'
import { packetizeAac } from '../../../test/support/media/aac/packetizer.ts'
import { packetizeH264 } from '../../../test/support/media/h264/packetizer.ts'
import type { HubItem } from '../../hub/hub-item.ts'
import type { Frame } from '../../media/frame.ts'
import { writeRtpPacket } from '../../media/rtp/rtp-header.ts'
import { parseSdp } from '../../media/sdp/parse-sdp.ts'
import type { AudioSink, AudioSource, AudioTranscoder } from '../../media/telephony/audio-transcoder.ts'
import { ArrivalClock } from '../clock/arrival-clock.ts'
import { planStreams } from '../plan/stream-plan.ts'
import { createCameraStats } from './camera-stats.ts'
import { CameraStream } from './camera-stream.ts'

function open({ sdp = audioVideoSdp, transcoder }: { sdp?: string; transcoder?: AudioTranscoder } = {}) {
  const time = { ms: 1_700_000_000_000 }
  const items: HubItem[] = []
  const stats = createCameraStats()
  let runs = 0
  const stream = new CameraStream({
    plan: planStreams(parseSdp(sdp)),
    transcoder,
    arrivalClock: new ArrivalClock({ nowMs: () => time.ms, monotonicMs: () => time.ms, sleep: async () => {} }),
    stats,
    floorMs: 0,
    createRunId: () => `run ${++runs}`,
    publish: (item) => items.push(item),
    onRun: () => {},
  })
  return { time, items, stats, stream }
}

/** Checks the properties that every reader of a hub relies on. */
function checkItems(items: readonly HubItem[]): void {
  const last = { video: -1, audio: -1 }
  let wallMs = 0
  let needsKey = true
  let isRunning = false
  for (const item of items) {
    if (item.kind === 'start') {
      last.video = -1
      last.audio = -1
      needsKey = true
      isRunning = true
      continue
    }
    assert.ok(isRunning && item.kind !== 'end')
    assert.ok(item.dts90k > last[item.kind] && Number.isSafeInteger(item.dts90k), `${item.kind} at ${item.dts90k}`)
    last[item.kind] = item.dts90k
    if (item.kind === 'audio') continue
    if (needsKey) assert.deepEqual([item.isKey, item.pts90k], [true, 0])
    needsKey = false
    assert.ok(item.wallMs >= wallMs)
    wallMs = item.wallMs
  }
}

const step = fc.record({
  kind: fc.constantFrom('inter', 'inter', 'inter', 'key', 'other size', 'audio', 'garbage', 'video garbage'),
  ms: fc.oneof(fc.constant(40), fc.constant(40), fc.integer({ min: 0, max: 15_000 })),
  jump: fc.oneof(fc.constant(0), fc.constant(0), fc.constant(0), fc.integer()),
  isLost: fc.constantFrom(false, false, false, false, true),
  garbage: fc.uint8Array({ maxLength: 60 }),
})

test('readers get whole runs with a start, a key frame and increasing times, whatever packets arrive', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const { time, items, stats, stream } = open()
      const sequence = { video: 0, audio: 0 }
      let ticks = 0
      const sendVideo = (payload: Uint8Array, isMarked: boolean, isLost: boolean) => {
        const fields = {
          payloadType: 96,
          isMarked,
          sequence: sequence.video++ & 0xffff,
          timestamp: ticks >>> 0,
          ssrc: 1,
        }
        const packet = writeRtpPacket(fields, payload)
        if (!isLost) stream.takeVideoPacket(packet, 0, packet.length)
      }
      for (const { kind, ms, jump, isLost, garbage } of steps) {
        time.ms += ms
        ticks += ms * 90 + jump
        if (kind === 'garbage') {
          stream.takeVideoPacket(garbage, 0, garbage.length)
          stream.takeAudioPacket(garbage, 0, garbage.length)
        } else if (kind === 'video garbage') {
          sendVideo(garbage, garbage.length % 2 === 0, false)
        } else if (kind === 'audio') {
          const fields = { payloadType: 97, isMarked: true, sequence: sequence.audio++ & 0xffff, ssrc: 2 }
          const timestamp = Math.round((time.ms * 48 + jump) % 2 ** 32) >>> 0
          const packet = writeRtpPacket({ ...fields, timestamp }, packetizeAac([Uint8Array.of(1), Uint8Array.of(2)]))
          if (!isLost) stream.takeAudioPacket(packet, 0, packet.length)
        } else {
          const slice = new Uint8Array(2500).fill(0x55)
          slice.set([0x60 | (kind === 'inter' ? 1 : 5), 0x88])
          const sets = [sampleSps[kind === 'key' ? '640x360' : '1920x1080'], samplePps]
          const payloads = packetizeH264(kind === 'inter' ? [slice] : [...sets, slice])
          for (const [i, payload] of payloads.entries())
            sendVideo(payload, i === payloads.length - 1, isLost && i === 1)
        }
      }
      stream.collectStats()
      checkItems(items)
      assert.equal(items.filter(({ kind }) => kind === 'video').length, stats.videoFrames)
      assert.equal(items.filter(({ kind }) => kind === 'start').length, stats.runs)
    }),
    { numRuns: 500 },
  )
})

/** A camera that sends 25 frames per second with a key frame every second, and audio while `hasAudio` returns true. */
function play(
  seconds: number,
  hasAudio: (second: number) => boolean,
  options: Parameters<typeof open>[0] & { onSecond?: (second: number) => void } = {},
) {
  const { time, items, stats, stream } = open(options)
  const isTelephone = options.transcoder !== undefined
  const startMs = time.ms
  const sequence = { video: 0, audio: 0 }
  for (let i = 0; i < seconds * 25; i++) {
    time.ms = startMs + i * 40
    if (i % 25 === 0) options.onSecond?.(i / 25)
    const slice = new Uint8Array(50).fill(0x55)
    slice.set([0x60 | (i % 25 === 0 ? 5 : 1), 0x88])
    const payloads = packetizeH264(i % 25 === 0 ? [sampleSps['640x360'], samplePps, slice] : [slice])
    for (const [n, payload] of payloads.entries()) {
      const isMarked = n === payloads.length - 1
      const fields = { payloadType: 96, isMarked, sequence: sequence.video++ & 0xffff, timestamp: i * 3600, ssrc: 1 }
      const packet = writeRtpPacket(fields, payload)
      stream.takeVideoPacket(packet, 0, packet.length)
    }
    if (!hasAudio(i / 25)) continue
    const first = isTelephone ? i : Math.ceil((i * 1920) / 1024)
    const end = isTelephone ? i + 1 : Math.ceil(((i + 1) * 1920) / 1024)
    for (let block = first; block < end; block++) {
      const timestamp = 1_000_000 + block * (isTelephone ? 320 : 1024)
      const payloadType = isTelephone ? 0 : 97
      const fields = { payloadType, isMarked: true, sequence: sequence.audio++ & 0xffff, timestamp, ssrc: 2 }
      const payload = isTelephone ? new Uint8Array(320).fill(i) : packetizeAac([Uint8Array.of(1)])
      const packet = writeRtpPacket(fields, payload)
      stream.takeAudioPacket(packet, 0, packet.length)
    }
  }
  checkItems(items)
  const runs = items.flatMap((item, at) =>
    item.kind === 'start' ? [{ hasAudio: item.format.audio !== undefined, at }] : [],
  )
  const startsOf = (run: { at: number }) =>
    items[run.at + 1]!.kind === 'video' ? (items[run.at + 1] as Frame).wallMs : -1
  return {
    items,
    stats,
    stream,
    runs: runs.map((run) => ({ ...run, second: Math.round((startsOf(run) - startMs) / 1000) })),
  }
}

/**
 * For the only run, which has audio: whether each second of it consists of silence. Silence has other bytes than the
 * camera's audio.
 */
function secondsOf({ items, runs }: ReturnType<typeof play>): boolean[] {
  assert.deepEqual(
    runs.map(({ hasAudio, second }) => [hasAudio, second]),
    [[true, 0]],
  )
  const { format } = items[0] as Extract<HubItem, { kind: 'start' }>
  const { sampleRate } = format.audio!
  const length90k = (1024 * 90_000) / sampleRate
  const blocks = items.filter((item) => item.kind === 'audio') as Frame[]
  const holes = blocks.flatMap(({ pts90k }, i) =>
    pts90k - (blocks[i - 1]?.pts90k ?? pts90k) > 1.5 * length90k ? [pts90k] : [],
  )
  assert.deepEqual(holes, [], 'the blocks are contiguous')
  const last90k = (items.findLast(({ kind }) => kind === 'video') as Frame).pts90k
  assert.ok(blocks[0]!.pts90k < length90k && blocks.at(-1)!.pts90k > last90k - 45_000)
  return Array.from({ length: Math.floor(last90k / 90_000) }, (_, second) =>
    // The edges of a second are left out, because blocks are not aligned with them.
    blocks.filter(({ pts90k }) => Math.abs(pts90k / 90_000 - second - 0.5) < 0.4).every(({ data }) => data.length > 1),
  )
}

test('audio that begins half a second late is part of the first run', () => {
  const played = play(5, (second) => second >= 0.5)
  assert.deepEqual(secondsOf(played), [false, false, false, false])
  assert.equal(played.stats.videoFrames, 5 * 25)
})

test('a camera that offers audio but sends none has a silent track', () => {
  assert.deepEqual(secondsOf(play(4, () => false)), [true, true, true])
})

test('audio that starts late, stops and starts again does not begin a run', () => {
  const hasAudio = (second: number) => (second >= 4 && second < 8) || second >= 25
  const played = play(31, hasAudio)
  assert.deepEqual(
    secondsOf(played),
    Array.from({ length: 30 }, (_, second) => !hasAudio(second)),
  )
  assert.equal(played.stats.videoFrames, 31 * 25)
  assert.ok(
    Math.abs(played.stats.audioFrames - (10 * 48_000) / 1024) <= 2,
    'silence is not counted as audio of the camera',
  )
})

test('audio ends with the video when a session ends', () => {
  const { items, stream } = play(3, () => true)
  stream[Symbol.dispose]()
  const { pts90k: video90k } = items.findLast(({ kind }) => kind === 'video') as Frame
  const { pts90k } = items.findLast(({ kind }) => kind === 'audio') as Frame
  const afterEnd90k = pts90k + 1920 - (video90k + 3600)
  assert.ok(afterEnd90k >= 0 && afterEnd90k < 1920, `${afterEnd90k}`)
})

/** A transcoder that returns the first byte of each chunk, three chunks late, and can be unavailable. */
class FakeTranscoder implements AudioTranscoder {
  isAvailable = true
  open<Tag>(_: AudioSource, onBlock: (data: Uint8Array, tag: Tag) => void): AudioSink<Tag> {
    const waiting: { data: Uint8Array; tag: Tag }[] = []
    return {
      push: (chunk, tag) => {
        assert.equal(chunk.length, 512)
        waiting.push({ data: chunk.slice(0, 1), tag })
        if (waiting.length <= 3) return
        const { data, tag: first } = waiting.shift()!
        onBlock(data, first)
      },
      close() {},
    }
  }
}

const telephoneSdp = `${videoSdp}m=audio 0 RTP/AVP 0\na=control:track2\n`

test('telephone audio is transcoded to AAC with each block at the time of its samples', () => {
  const { runs, items, stats } = play(10, () => true, { sdp: telephoneSdp, transcoder: new FakeTranscoder() })
  assert.deepEqual(
    runs.map(({ hasAudio }) => hasAudio),
    [true],
  )
  const { format } = items[0] as Extract<HubItem, { kind: 'start' }>
  assert.deepEqual([format.audio?.codec, format.audio?.sampleRate], ['aac', 16_000])
  const blocks = items.filter((item) => item.kind === 'audio') as Frame[]
  assert.ok(blocks.length >= 150 && stats.audioFrames === blocks.length)
  // The clock settles in the first second.
  const settled = blocks.slice(20)
  for (const [i, { pts90k }] of settled.slice(1).entries()) assert.equal(pts90k - settled[i]!.pts90k, 5760)
  // A packet of 40 ms contains its number and is sent with the video frame of the same time.
  for (const { data, pts90k } of settled) {
    const packet = data[0]! + (pts90k / 3600 - data[0]! > 128 ? 256 : 0)
    const lateMs = pts90k / 90 - packet * 40
    assert.ok(lateMs > -10 && lateMs < 85, `the audio of packet ${packet} is ${lateMs} ms late`)
  }
})

test('a camera has silent audio while audio cannot be encoded', () => {
  const transcoder = new FakeTranscoder()
  const onSecond = (second: number) => {
    transcoder.isAvailable = second < 5 || second >= 12
  }
  const played = play(17, () => true, { sdp: telephoneSdp, transcoder, onSecond })
  assert.deepEqual(
    secondsOf(played),
    Array.from({ length: 16 }, (_, second) => second >= 5 && second < 12),
  )
  assert.equal(played.stats.videoFrames, 17 * 25, 'no frame is missing')
  const without = play(3, () => true, { sdp: telephoneSdp })
  assert.deepEqual(
    without.runs.map(({ hasAudio }) => hasAudio),
    [false],
  )
})

test('with one packet in a thousand lost, every frame of an hour is either in place or counted as dropped', () => {
  const { time, items, stats, stream } = open()
  let sequence = 0
  for (let i = 0; i < 25 * 3600; i++) {
    time.ms += 40
    // No byte of the number is 0, so that it does not look like a start code.
    const number = [14, 7, 0].map((shift) => 0x80 | (i >> shift))
    const slice = Uint8Array.of(0x60 | (i % 50 === 0 ? 5 : 1), 0x88, ...number)
    const payloads = packetizeH264(i % 50 === 0 ? [sampleSps['640x360'], samplePps, slice] : [slice])
    for (const [n, payload] of payloads.entries()) {
      const isMarked = n === payloads.length - 1
      const timestamp = (4_294_000_000 + i * 3600) >>> 0
      const packet = writeRtpPacket(
        { payloadType: 96, isMarked, sequence: sequence++ & 0xffff, timestamp, ssrc: 1 },
        payload,
      )
      if (Math.imul(sequence, 2654435761) >>> 0 > 4_290_000) stream.takeVideoPacket(packet, 0, packet.length)
    }
  }
  stream.collectStats()
  checkItems(items)
  let next90k = 0
  for (const item of items) {
    if (item.kind !== 'video') continue
    const [a = 0, b = 0, c = 0] = item.data.subarray(-3)
    assert.equal(item.pts90k, (((a & 0x7f) << 14) | ((b & 0x7f) << 7) | (c & 0x7f)) * 3600)
    assert.equal(item.isAfterLoss, item.pts90k !== next90k, 'a frame is marked if others are missing before it')
    next90k = item.pts90k + 3600
  }
  assert.ok(stats.lostPackets > 50 && stats.lostPackets < 150, `${stats.lostPackets} lost`)
  assert.equal(stats.runs, 1)
  assert.equal(stats.clockJumps, 0)
})
