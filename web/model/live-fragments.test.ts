import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FrameFragmentMuxer } from '../../server/live/frame-fragment-muxer.ts'
import { MseStream } from '../../server/live/mse-stream.ts'
import { format } from '../../test/support/live/live-scene.ts'
import { LiveFragments, type LivePart } from './live-fragments.ts'

const audio = {
  codec: 'aac',
  sampleRate: 16_000,
  channels: 1,
  config: Uint8Array.of(0x14, 0x08),
  codecString: 'mp4a.40.2',
} as const
const wallMs = 1_700_000_000_123

function write(): Uint8Array[] {
  const stream = new MseStream({ ...format, audio }, true)
  const muxer = new FrameFragmentMuxer(new Uint8Array(), { ...format, audio })
  const parts: Uint8Array[] = [stream.head]
  for (let i = 0; i < 20; i++) {
    for (const kind of ['video', 'audio'] as const) {
      const data = new Uint8Array(50).fill(i)
      const time = { pts90k: i * 5760, dts90k: i * 5760, wallMs: wallMs + i * 64 }
      const [chunk] = muxer.push({ kind, ...time, isKey: kind === 'audio' || i % 5 === 0, data })
      const bytes = chunk && stream.push(chunk)
      if (bytes) parts.push(bytes)
    }
  }
  return parts
}

test('a stream is divided into what each source buffer gets, wherever the network cuts it', () => {
  const bytes = Buffer.concat(write())
  const read = (cuts: readonly number[]): LivePart[] => {
    const fragments = new LiveFragments()
    const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length]
    return places.slice(1).flatMap((end, i) => fragments.push(bytes.subarray(places[i]!, end)))
  }
  const whole = read([])
  assert.deepEqual(
    whole.slice(0, 4).map(({ track, frame }) => [track, frame?.isKey]),
    [['video', undefined], ['audio', undefined], ['video', true], ['audio', undefined]], // biome-ignore format: one line
  )
  const frames = whole.flatMap(({ frame }) => frame ?? [])
  assert.equal(frames.length, 20)
  for (const [i, frame] of frames.entries()) {
    assert.ok(Math.abs(frame.wallMs - wallMs - i * 64) < 0.01)
    assert.deepEqual([frame.seconds, frame.isKey], [(i * 5760) / 90_000, i % 5 === 0])
  }
  fc.assert(fc.property(fc.array(fc.nat(), { maxLength: 50 }), (cuts) => assert.deepEqual(read(cuts), whole)))
})

test('a stream of something else is refused', () => {
  assert.throws(() => new LiveFragments().push(new TextEncoder().encode('<!doctype html><html>')))
  assert.throws(() => new LiveFragments().push(new Uint8Array(16)))
})
