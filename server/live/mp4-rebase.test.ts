import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DecodeOrder } from '../ingest/clock/decode-order.ts'
import { parseBoxHeader } from '../media/mp4/box-scanner.ts'
import { parseFragmentSamples } from '../media/mp4/fragment-samples.ts'
import { writeFragmentHead } from '../media/mp4/media-fragment.ts'
import { Mp4Rebase } from './mp4-rebase.ts'

const step90k = 3600

/** Frames in decoding order: after each, `depth` that are shown before it. */
function reorderedFrames(count: number, depth: number) {
  const order = new DecodeOrder()
  const start90k = order.begin({ depth: Math.min(1, depth), maxDepth: 4, frameRate: 25 })
  const numbers = [0]
  for (let i = 1; i < count; i += depth + 1) {
    numbers.push(i + depth, ...Array.from({ length: depth }, (_, b) => i + b))
  }
  return numbers.map((number, i) => {
    const pts90k = start90k + number * step90k
    if (i > 0) order.place(pts90k)
    return { dts90k: order.dts90k, pts90k }
  })
}

function fragmentOf({ dts90k, pts90k }: { dts90k: number; pts90k: number }): Uint8Array {
  const samples = [
    { data: Uint8Array.of(7), duration: step90k, compositionOffset: pts90k - dts90k, isKey: dts90k === 0 },
  ]
  const head = writeFragmentHead(1, [{ trackId: 1, baseDecodeTime: dts90k, samples }])
  return new Uint8Array([...head, 7])
}

function readTimes(fragment: Uint8Array) {
  const [track] = parseFragmentSamples(fragment.subarray(0, parseBoxHeader(fragment)!.bytes))
  const dts90k = track!.baseDecodeTime
  return { dts90k, pts90k: dts90k + track!.compositionOffsets[0]! }
}

test('a viewer that joins a stream with B-frames late gets its frames in presentation order', () => {
  const count = fc.integer({ min: 2, max: 400 })
  fc.assert(
    fc.property(count, fc.nat(3), fc.nat(20_000), (count, depth, ageMs) => {
      const sent = reorderedFrames(count, depth)
      const rebase = new Mp4Rebase(undefined)
      const seen = sent.map((each, i) => readTimes(rebase.rebase(fragmentOf(each), ageMs - i * 40)!))
      const byShowing = (list: readonly { pts90k: number }[]) =>
        [...list.keys()].sort((a, b) => list[a]!.pts90k - list[b]!.pts90k)
      assert.deepEqual(byShowing(seen), byShowing(sent))
      assert.equal(new Set(seen.map(({ pts90k }) => pts90k)).size, seen.length, 'each has a time of its own')
      for (const [i, { dts90k, pts90k }] of seen.entries()) {
        assert.ok(pts90k >= dts90k, 'not shown before it is decoded')
        if (i > 0) assert.ok(dts90k > seen[i - 1]!.dts90k)
      }
      const catchUpMs = Math.max(0, ageMs - 1500)
      const endMs = Math.max(...sent.map(({ pts90k }) => pts90k)) / 90
      const expectedMs = Math.min(catchUpMs, endMs) / 40 + Math.max(0, endMs - catchUpMs)
      assert.ok(Math.abs(Math.max(...seen.map(({ pts90k }) => pts90k)) / 90 - expectedMs) < 1)
    }),
  )
})
