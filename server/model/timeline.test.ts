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

test('a gap that lasts has its reasons also where an earlier epoch recorded the same hours', () => {
  const spans: Span[] = [span(100_000, 200_000), { ...span(50_000, 80_000, 'clock_set'), epoch: 1 }]
  const footage = { startMs: 50_000, endMs: 200_000, newest: { epoch: 1, endMs: 80_000 } }
  const marks = [{ atMs: 80_000, reason: 'stopped_by_user', epoch: 1 }]
  const { gaps } = buildTimeline(spans, { ...whole, footage, marks, nowMs: 300_000 })
  assert.deepEqual(gaps, [
    { startMs: 200_000, endMs: 200_000, reason: 'clock_set' },
    { startMs: 80_000, endMs: 300_000, reason: 'stopped_by_user' },
  ])
  const later = { ...marks[0]!, atMs: 230_000, reason: 'disk_full' }
  const { gaps: both } = buildTimeline(spans, { ...whole, footage, marks: [...marks, later], nowMs: 300_000 })
  assert.deepEqual(both.slice(1), [
    { startMs: 80_000, endMs: 230_000, reason: 'stopped_by_user' },
    { startMs: 230_000, endMs: 300_000, reason: 'disk_full' },
  ])
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

test('a gap at either end of the request is listed if there is footage beyond it', () => {
  const footage = { startMs: 0, endMs: 900_000 }
  const request = { startMs: 100_000, endMs: 200_000, footage, next: { gapReason: 'disk_full' } }
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

const outage = { footage: { startMs: 0, endMs: 100_400 }, nowMs: 200_900 }
const newest = span(40_000, 100_400)

test('a gap that has not ended is listed up to now, or to the end of the request, with its reason', () => {
  const marks = [
    { atMs: 20_000, reason: undefined },
    { atMs: 101_000, reason: 'camera_unreachable' },
  ]
  const gap = { startMs: 101_000, reason: 'camera_unreachable' }
  assert.deepEqual(buildTimeline([newest], { ...whole, ...outage, marks }).gaps, [{ ...gap, endMs: 200_000 }])
  const short = { startMs: 0, endMs: 150_000, ...outage, marks }
  assert.deepEqual(buildTimeline([newest], short).gaps, [{ ...gap, endMs: 150_000 }])
  const late = { startMs: 120_000, endMs: 180_000, ...outage, marks: marks.slice(1) }
  assert.deepEqual(buildTimeline([], late).gaps, [{ startMs: 120_000, endMs: 180_000, reason: 'camera_unreachable' }])
})

test('no gap lasts when recording goes on, when nobody says so, or when footage is newer than what was said', () => {
  for (const marks of [
    [],
    [
      { atMs: 50_000, reason: 'no_frames' },
      { atMs: 60_000, reason: undefined },
    ],
    [{ atMs: 50_000, reason: 'no_frames' }],
  ]) {
    assert.deepEqual(buildTimeline([newest], { ...whole, ...outage, marks }).gaps, [])
  }
})

test('a gap has a part for each reason it had', () => {
  const marks = [
    { atMs: 100_500, reason: 'camera_unreachable' },
    { atMs: 120_700, reason: 'server_down' },
    { atMs: 130_000, reason: 'server_down' },
    { atMs: 140_200, reason: 'auth_failed' },
  ]
  const parts = [
    { startMs: 101_000, endMs: 120_000, reason: 'camera_unreachable' },
    { startMs: 120_000, endMs: 140_000, reason: 'server_down' },
  ]
  const lasting = buildTimeline([newest], { ...whole, ...outage, marks })
  assert.deepEqual(lasting.gaps, [...parts, { startMs: 140_000, endMs: 200_000, reason: 'auth_failed' }])
  const over = buildTimeline([newest, span(160_000, 190_000, 'server_down')], {
    ...{ ...whole, footage: { startMs: 0, endMs: 190_000 }, nowMs: 190_500 },
    marks: [...marks, { atMs: 160_100, reason: undefined }],
  })
  assert.deepEqual(over.gaps, [...parts, { startMs: 140_000, endMs: 160_000, reason: 'auth_failed' }])
})

test('a reason that held for less than a second gives way to the next', () => {
  const marks = [
    { atMs: 100_500, reason: 'stream_changed' },
    { atMs: 101_300, reason: 'auth_failed' },
  ]
  const { gaps } = buildTimeline([newest], { ...whole, ...outage, marks })
  assert.deepEqual(gaps, [{ startMs: 101_000, endMs: 200_000, reason: 'auth_failed' }])
})

test('the reason of an outage that ends within seconds is the one reported last, not the first one', () => {
  const marks = [
    { atMs: 100_330, reason: 'camera_unreachable' },
    { atMs: 100_870, reason: 'no_frames' },
    { atMs: 104_815, reason: undefined },
  ]
  const footage = { startMs: 0, endMs: 190_000 }
  const request = { ...whole, footage, marks, nowMs: 190_500 }
  const { gaps } = buildTimeline([newest, span(104_600, 190_000, 'camera_unreachable')], request)
  assert.deepEqual(gaps, [{ startMs: 101_000, endMs: 104_000, reason: 'no_frames' }])
})

test('a mark of long before the end of footage is not about the gap behind it', () => {
  const request = { ...whole, footage: { startMs: 0, endMs: 190_000 }, marks: [{ atMs: 5000, reason: 'no_frames' }] }
  const { gaps } = buildTimeline([newest, span(160_000, 190_000, 'server_down')], request)
  assert.deepEqual(gaps, [{ startMs: 101_000, endMs: 160_000, reason: 'server_down' }])
})

test('a mark of the gap before the last seconds of footage is not about the gap behind them', () => {
  const footage = { startMs: 0, endMs: 190_000 }
  // The server was killed soon after the camera came back, before it could write that recording went on.
  const spans = [newest, span(120_000, 122_500, 'camera_unreachable'), span(160_000, 190_000, 'server_down')]
  const marks = [
    { atMs: 100_500, reason: 'camera_unreachable' },
    { atMs: 119_000, reason: 'auth_failed' },
  ]
  const { gaps } = buildTimeline(spans, { ...whole, footage, marks, nowMs: 190_500 })
  assert.deepEqual(gaps, [
    { startMs: 101_000, endMs: 119_000, reason: 'camera_unreachable' },
    { startMs: 119_000, endMs: 120_000, reason: 'auth_failed' },
    { startMs: 123_000, endMs: 160_000, reason: 'server_down' },
  ])
})

/** The room they fill: gaps that touch are one. */
function joinGaps(gaps: Iterable<{ readonly startMs: number; readonly endMs: number }>) {
  const joined: { startMs: number; endMs: number }[] = []
  for (const { startMs, endMs } of gaps) {
    const last = joined.at(-1)
    if (last?.endMs === startMs) last.endMs = endMs
    else joined.push({ startMs, endMs })
  }
  return joined
}

test('whatever the marks, the parts of gaps fill exactly the room that gaps had without them', () => {
  const spans = fc.array(fc.tuple(fc.nat(100_000), fc.integer({ min: 1, max: 20_000 })), { maxLength: 10 })
  const mark = fc.record({
    atMs: fc.nat(120_000),
    reason: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
  })
  fc.assert(
    fc.property(spans, fc.array(mark, { maxLength: 10 }), (pairs, marks) => {
      const sorted = pairs.map(([s, length]) => span(s, s + length, 'x')).sort((a, b) => a.startMs - b.startMs)
      const request = { startMs: 10_000, endMs: 90_000, footage: { startMs: 0, endMs: 200_000 }, nowMs: 250_000 }
      const plain = buildTimeline(sorted, request)
      const sortedMarks = marks.sort((a, b) => a.atMs - b.atMs)
      const marked = buildTimeline(sorted, { ...request, marks: sortedMarks })
      assert.deepEqual(marked.segments, plain.segments)
      assert.ok(marked.gaps.every(({ startMs, endMs }) => startMs < endMs))
      assert.deepEqual(joinGaps(marked.gaps), joinGaps(plain.gaps))
    }),
    { numRuns: 500 },
  )
})

test('a hole of more than a second in a segment is a gap, whether it splits the segment or not', () => {
  const holes = [
    { startMs: 20_400, endMs: 21_600, reason: 'packet_loss' },
    { startMs: 30_500, endMs: 34_200, reason: 'packet_loss' },
    { startMs: 40_000, endMs: 42_500, reason: 'no_frames' },
  ]
  const request = { ...whole, footage: { startMs: 10_000, endMs: 60_000 } }
  assert.deepEqual(buildTimeline([{ ...span(10_000, 60_000), holes }], request), {
    segments: [
      { startMs: 10_000, endMs: 31_000 },
      { startMs: 34_000, endMs: 40_000 },
      { startMs: 42_000, endMs: 60_000 },
    ],
    gaps: [
      { startMs: 21_000, endMs: 22_000, reason: 'packet_loss' },
      { startMs: 31_000, endMs: 34_000, reason: 'packet_loss' },
      { startMs: 40_000, endMs: 42_000, reason: 'no_frames' },
    ],
  })
})

test('a break of one to two seconds between two files is a gap when its reason is known', () => {
  const spans = [
    span(10_000, 20_000),
    span(20_900, 30_000, 'stream_changed'),
    span(31_500, 40_000, 'camera_unreachable'),
  ]
  const { segments, gaps } = buildTimeline(spans, { ...whole, footage: { startMs: 10_000, endMs: 40_000 } })
  assert.deepEqual(segments, [{ startMs: 10_000, endMs: 40_000 }])
  assert.deepEqual(gaps, [{ startMs: 30_000, endMs: 31_000, reason: 'camera_unreachable' }])
})

test('a request that begins or ends in a hole has the part of it that is inside', () => {
  const spans = [{ ...span(10_000, 60_000), holes: [{ startMs: 20_000, endMs: 30_000, reason: 'packet_loss' }] }]
  const footage = { startMs: 10_000, endMs: 60_000 }
  const [gap] = buildTimeline(spans, { startMs: 25_000, endMs: 50_000, footage }).gaps
  assert.deepEqual(gap, { startMs: 25_000, endMs: 30_000, reason: 'packet_loss' })
})

test('a gap that has not ended since the clock was set back is listed, although these hours were recorded before', () => {
  const spans = [span(10_000, 90_000), { ...span(30_000, 40_000, 'clock_set'), epoch: 1 }]
  const footage = { startMs: 10_000, endMs: 90_000, newest: { epoch: 1, endMs: 40_000 } }
  const marks = [{ atMs: 40_200, reason: 'auth_failed', epoch: 1 }]
  const request = { startMs: 0, endMs: 100_000, footage, marks }
  const listGaps = (nowMs: number, values = {}) => buildTimeline(spans, { ...request, nowMs, ...values }).gaps
  const back = { startMs: 90_000, endMs: 90_000, reason: 'clock_set' }
  assert.deepEqual(listGaps(60_000), [back, { startMs: 40_000, endMs: 60_000, reason: 'auth_failed' }])
  assert.deepEqual(listGaps(99_000), [back, { startMs: 40_000, endMs: 99_000, reason: 'auth_failed' }])
  assert.deepEqual(listGaps(99_000, { endMs: 80_000 }), [
    { ...back, startMs: 80_000, endMs: 80_000 },
    { startMs: 40_000, endMs: 80_000, reason: 'auth_failed' },
  ])
  const later = buildTimeline([span(50_000, 90_000)], { ...request, startMs: 50_000, nowMs: 70_000 }).gaps
  assert.deepEqual(later, [back, { startMs: 50_000, endMs: 70_000, reason: 'auth_failed' }])
  const before = buildTimeline([spans[0]!], { ...request, startMs: 10_000, endMs: 20_000, nowMs: 70_000 }).gaps
  assert.deepEqual(before, [])
})
