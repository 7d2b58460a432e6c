// What Media Source demands of times, of streams that are drawn at random.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { format } from '../../test/support/live/live-scene.ts'
import type { Frame, StreamFormat } from '../media/frame.ts'
import { scanBoxes } from '../media/mp4/box-scanner.ts'
import { parseProducerReferenceTime } from '../media/mp4/fragment-head.ts'
import { parseFragmentSamples } from '../media/mp4/fragment-samples.ts'
import { writeFragmentHead } from '../media/mp4/media-fragment.ts'
import { findRefreshCount } from '../media/nal/key-frame.ts'
import { FrameFragmentMuxer } from './frame-fragment-muxer.ts'
import type { LiveChunk } from './live-chunk.ts'
import { MseStream } from './mse-stream.ts'

const sampleRate = 16_000
const blockSamples = 1024
const withAudio: StreamFormat = {
  video: format.video,
  audio: { codec: 'aac', sampleRate, channels: 1, config: Uint8Array.of(0x14, 0x08), codecString: 'mp4a.40.2' },
}
const wallOriginMs = 1_700_000_000_000

type Sent = { readonly kind: 'video' | 'audio'; readonly ms: number }

const frameOf = ({ kind, ms }: Sent, isKey: boolean): Frame => ({
  kind,
  pts90k: ms * 90,
  dts90k: ms * 90,
  wallMs: wallOriginMs + ms,
  isKey: kind === 'audio' || isKey,
  data: Uint8Array.of(0, 0, 0, 1, isKey ? 0x65 : 0x61),
})

type Seen = { trackId: number; time: number; durations: readonly number[]; wallMs: number | undefined; after: number }

/** The fragments that a page gets; `after`: of which item. */
function send(sent: readonly Sent[], hasAudio: boolean): Seen[] {
  const muxer = new FrameFragmentMuxer(new Uint8Array(), withAudio)
  const stream = new MseStream(withAudio, hasAudio)
  const seen: Seen[] = []
  for (const [after, item] of sent.entries()) {
    const [chunk] = muxer.push(frameOf(item, after % 10 === 0))
    const bytes = chunk && stream.push(chunk)
    let wallMs: number | undefined
    for (const box of bytes ? scanBoxes(bytes).boxes : []) {
      const content = bytes!.subarray(box.offset, box.offset + box.bytes)
      if (box.type === 'prft') wallMs = parseProducerReferenceTime(content)
      if (box.type !== 'moof') continue
      const [track] = parseFragmentSamples(content)
      seen.push({ ...track!, time: track!.baseDecodeTime, wallMs, after })
      wallMs = undefined
    }
  }
  return seen
}

const streams = fc
  .array(
    fc.record({
      stepMs: fc.oneof(
        { weight: 20, arbitrary: fc.integer({ min: 10, max: 250 }) },
        fc.integer({ min: 1, max: 30_000 }),
      ),
      isHeard: fc.boolean(),
    }),
    { minLength: 2, maxLength: 200 },
  )
  .map((steps) => {
    const sent: Sent[] = []
    let audioMs = 0
    let ms = 0
    for (const { stepMs, isHeard } of steps) {
      sent.push({ kind: 'video', ms })
      ms += stepMs
      // Blocks that are not heard are lost.
      for (; audioMs < ms; audioMs += (blockSamples * 1000) / sampleRate) {
        if (isHeard) sent.push({ kind: 'audio', ms: audioMs })
      }
    }
    return sent
  })

test('no frame begins later than two durations of the one before, and each says when it was captured', () => {
  fc.assert(
    fc.property(streams, fc.boolean(), (sent, hasAudio) => {
      const video = send(sent, hasAudio).filter(({ trackId }) => trackId === 1)
      assert.equal(video.length, sent.filter(({ kind }) => kind === 'video').length)
      assert.equal(video[0]!.time, 0)
      for (const [i, { time, wallMs, after }] of video.entries()) {
        assert.equal(wallMs, wallOriginMs + sent[after]!.ms)
        if (i === 0) continue
        const before = video[i - 1]!
        assert.ok(time > before.time)
        assert.ok(time - before.time <= 2 * before.durations[0]!, `${time - before.time} after ${before.durations[0]}`)
      }
    }),
  )
})

test('audio has no holes, keeps up with the video, and stays with it', () => {
  fc.assert(
    fc.property(streams, (sent) => {
      let end = 0
      for (const { trackId, time, durations, after } of send(sent, true)) {
        if (trackId === 1) {
          assert.ok(end >= (time / 90_000 - 0.5) * sampleRate - blockSamples, `${end} samples at ${time}`)
          continue
        }
        assert.ok(time >= end && time - end < blockSamples, `${time} after ${end}`)
        end = time + durations.reduce((sum, each) => sum + each, 0)
        assert.ok(after < sent.length)
      }
    }),
  )
})

test('browsers begin at a frame from which on the image is refreshed gradually', () => {
  // SEI with a recovery point of five frames, and a slice.
  const unit = Uint8Array.of(...[0, 0, 0, 6, 6, 6, 2, 0x34, 0x40, 0x80], ...[0, 0, 0, 4, 0x41, 0x9a, 0x00, 0x80])
  assert.equal(findRefreshCount('h264', unit), 5)
  const sample = { data: unit, duration: 3600, compositionOffset: 0, isKey: true, recovery: 5 }
  const head = writeFragmentHead(1, [{ trackId: 1, baseDecodeTime: 0, samples: [sample] }])
  const data = new Uint8Array([...head, ...unit])
  const chunk: LiveChunk = { kind: 'media', isKey: true, wallMs: wallOriginMs, durationMs: 40, data }
  const sent = new MseStream(format, false).push(chunk)!
  assert.equal(findRefreshCount('h264', sent.subarray(-unit.length)), 0)
  assert.equal(findRefreshCount('h264', data.subarray(-unit.length)), 5, 'the shared chunk is untouched')
})

test('a page that wants no audio gets none', () => {
  const sent: Sent[] = [0, 40, 80, 120].flatMap((ms) => [
    { kind: 'video', ms },
    { kind: 'audio', ms },
  ])
  assert.ok(send(sent, true).some(({ trackId }) => trackId === 2))
  assert.ok(send(sent, false).every(({ trackId }) => trackId === 1))
  const countTracks = (bytes: Uint8Array) => scanBoxes(bytes).boxes.filter(({ type }) => type === 'moov').length
  assert.equal(countTracks(new MseStream(withAudio, true).head), 2)
  assert.equal(countTracks(new MseStream(withAudio, false).head), 1)
})
