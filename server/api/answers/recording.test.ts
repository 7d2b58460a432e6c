import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { getTimeRange, maxTimelineMs } from '../../model/time-range.ts'
import { writeTimeline } from './recording.ts'

test('the range a timeline echoes can be asked for again, and holds all it tells', () => {
  const startMs = Date.UTC(2026, 6, 1, 10)
  fc.assert(
    fc.property(
      fc.nat(5000),
      fc.oneof(fc.integer({ min: 1, max: maxTimelineMs }), fc.constant(maxTimelineMs)),
      (late, ms) => {
        const request = { startMs: startMs + late, endMs: startMs + late + ms }
        const whole = { ...request, reason: 'unknown' }
        const last = { startMs: request.endMs - 1, endMs: request.endMs, reason: 'unknown' }
        const { start, end, segments, gaps } = writeTimeline(request, { segments: [whole, last], gaps: [whole, last] })
        const echoed = getTimeRange({ start, end }, maxTimelineMs)
        assert.ok(echoed.startMs <= request.startMs && echoed.endMs > request.endMs - 1000)
        assert.deepEqual(segments[0], { start, end })
        for (const stretch of [...segments, ...gaps]) assert.ok(stretch.start < stretch.end && stretch.end <= end)
      },
    ),
  )
})

test('a day that begins within a second is echoed as a day', () => {
  const startMs = Date.UTC(2026, 6, 1) + 500
  const { start, end } = writeTimeline({ startMs, endMs: startMs + maxTimelineMs }, { segments: [], gaps: [] })
  assert.deepEqual([start, end], ['2026-07-01T00:00:00Z', '2026-07-02T01:00:00Z'])
})
