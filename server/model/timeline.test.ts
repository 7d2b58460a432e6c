import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildTimeline, maxBreakMs, type Span } from './timeline.ts'

const span = (startMs: number, endMs: number, gapReason?: string): Span => ({ startMs, endMs, gapReason })
const whole = { startMs: 0, endMs: 1_000_000 }

test('breaks of up to two seconds do not split a segment', () => {
  const spans = [
    span(10_000, 70_000),
    span(70_000, 130_000),
    span(132_000, 150_000),
    span(152_001, 160_000, 'no_frames'),
  ]
  const { segments, gaps } = buildTimeline(spans, { ...whole, footage: { startMs: 10_000, endMs: 160_000 } })
  assert.deepEqual(segments, [
    { startMs: 10_000, endMs: 150_000 },
    { startMs: 152_000, endMs: 160_000 },
  ])
  assert.deepEqual(gaps, [{ startMs: 150_000, endMs: 152_000, reason: 'no_frames' }])
})

test('segments are clipped to the request and grow to whole seconds', () => {
  const spans = [span(1, 12_345), span(20_678, 30_001, 'server_down'), span(90_000, 190_000)]
  const { segments } = buildTimeline(spans, { startMs: 5000, endMs: 100_000, footage: { startMs: 1, endMs: 190_000 } })
  assert.deepEqual(segments, [
    { startMs: 5000, endMs: 13_000 },
    { startMs: 20_000, endMs: 31_000 },
    { startMs: 90_000, endMs: 100_000 },
  ])
})

test('a request that reaches outside the footage has gaps only inside it', () => {
  const footage = { startMs: 10_000, endMs: 20_000 }
  assert.deepEqual(buildTimeline([span(10_000, 20_000, 'server_down')], { ...whole, footage }), {
    segments: [{ startMs: 10_000, endMs: 20_000 }],
    gaps: [],
  })
  assert.deepEqual(buildTimeline([], { ...whole, footage: undefined }), { segments: [], gaps: [] })
})

test('a gap at either end of the request is told when there is footage beyond', () => {
  const footage = { startMs: 0, endMs: 900_000 }
  const request = { startMs: 100_000, endMs: 200_000, footage, nextGapReason: 'disk_full' }
  assert.deepEqual(buildTimeline([span(120_000, 150_000, 'camera_unreachable')], request).gaps, [
    { startMs: 100_000, endMs: 120_000, reason: 'camera_unreachable' },
    { startMs: 150_000, endMs: 200_000, reason: 'disk_full' },
  ])
  assert.deepEqual(buildTimeline([], request).gaps, [{ startMs: 100_000, endMs: 200_000, reason: 'disk_full' }])
})

test('segments are apart, gaps are exactly the room between them, and nothing recorded is outside', () => {
  const spans = fc.array(fc.tuple(fc.nat(100_000), fc.integer({ min: 1, max: 20_000 })), { maxLength: 20 })
  fc.assert(
    fc.property(spans, fc.nat(60), fc.integer({ min: 1, max: 60 }), (pairs, startS, lengthS) => {
      const request = { startMs: startS * 1000, endMs: (startS + lengthS) * 1000, footage: { startMs: -1, endMs: 1e9 } }
      const sorted = pairs.map(([s, length]) => span(s, s + length)).sort((a, b) => a.startMs - b.startMs)
      const { segments, gaps } = buildTimeline(sorted, request)
      const all = [...segments, ...gaps].sort((a, b) => a.startMs - b.startMs)
      assert.equal(all[0]?.startMs, request.startMs)
      assert.equal(all.at(-1)?.endMs, request.endMs)
      for (let i = 1; i < all.length; i++) assert.equal(all[i]!.startMs, all[i - 1]!.endMs)
      for (const { startMs, endMs } of sorted) {
        for (const ms of [startMs, endMs - 1]) {
          if (ms < request.startMs || ms >= request.endMs) continue
          assert.ok(segments.some((s) => s.startMs <= ms && ms < s.endMs))
        }
      }
      assert.ok(maxBreakMs < 3000)
    }),
  )
})
