import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  fitLabels,
  follow,
  followPlaying,
  listTicks,
  longestMs,
  momentAt,
  placeOf,
  shortestMs,
  type View,
  viewOfDay,
  viewOfRecent,
  zoom,
} from './timeline-view.ts'
import { createZone } from './zone.ts'

const berlin = createZone('Europe/Berlin')
const at = (text: string) => Date.parse(text)
const views = fc
  .tuple(fc.integer({ min: at('2020-01-01'), max: at('2030-01-01') }), fc.integer({ min: shortestMs, max: longestMs }))
  .map(([startMs, spanMs]): View => ({ startMs, endMs: startMs + spanMs }))

test('positions map to moments and back', () => {
  fc.assert(
    fc.property(
      views,
      fc.integer({ min: 200, max: 4000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (view, width, share) => {
        const place = share * width
        assert.ok(Math.abs(placeOf(momentAt(place, view, width), view, width) - place) < 0.01)
      },
    ),
  )
})

test('zooming keeps the moment under the pointer, between a minute and the longest day', () => {
  fc.assert(
    fc.property(
      views,
      fc.double({ min: 0.01, max: 100, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (view, factor, share) => {
        const aboutMs = view.startMs + share * (view.endMs - view.startMs)
        const zoomed = zoom(view, factor, aboutMs)
        const spanMs = zoomed.endMs - zoomed.startMs
        assert.ok(spanMs >= shortestMs - 1 && spanMs <= longestMs + 1)
        assert.ok(Math.abs(placeOf(aboutMs, zoomed, 1000) - placeOf(aboutMs, view, 1000)) < 0.01)
      },
    ),
  )
})

test('the playhead stays in view', () => {
  fc.assert(
    fc.property(views, fc.integer({ min: -longestMs, max: longestMs }), (view, awayMs) => {
      const ms = view.startMs + awayMs
      const { startMs, endMs } = follow(view, ms)
      assert.ok(ms >= startMs && ms <= endMs)
    }),
  )
})

test('a view that was moved away from the playhead stays there', () => {
  const view = { startMs: 0, endMs: 100_000 }
  assert.deepEqual(followPlaying(view, 500_000, 500_250, 900_000), view)
  assert.deepEqual(followPlaying(view, 50_000, 50_250, 900_000), view)
  // A day stays a day in its last hour.
  assert.deepEqual(followPlaying(view, 99_000, 99_250, 900_000), view)
  const turned = followPlaying(view, 99_900, 100_150, 900_000)
  assert.deepEqual(turned, { startMs: 90_150, endMs: 190_150 })
  // What is live has nothing behind it yet.
  assert.deepEqual(followPlaying(view, 99_900, 100_150, 100_150), { startMs: 10_150, endMs: 110_150 })
})

test('the timeline opens on the last hours, with room for what comes', () => {
  const view = viewOfRecent(10 * 3_600_000)
  assert.deepEqual(view, { startMs: 6.4 * 3_600_000, endMs: 10.4 * 3_600_000 })
})

test('ticks are ordered, in view, at round times, and their labels fit', () => {
  fc.assert(
    fc.property(views, fc.integer({ min: 320, max: 2500 }), (view, width) => {
      const ticks = listTicks(view, width, berlin)
      assert.ok(ticks.length < 700)
      const moments = ticks.map(({ ms }) => ms)
      assert.deepEqual(
        moments,
        [...new Set(moments)].sort((a, b) => a - b),
      )
      assert.ok(moments.every((ms) => ms >= view.startMs && ms <= view.endMs))
      const labelled = ticks.filter(({ label }) => label !== 'none').map(({ ms }) => placeOf(ms, view, width))
      for (const [index, place] of labelled.entries()) {
        // The night the clocks change brings two labels nearer to each other.
        if (index > 0) assert.ok(place - labelled[index - 1]! > 88 / 2 - 1)
      }
    }),
    { numRuns: 300 },
  )
})

test('a day of 25 hours has 25 hour ticks', () => {
  const view = viewOfDay(at('2026-10-25T12:00:00Z'), berlin)
  assert.equal(view.endMs - view.startMs, longestMs)
  const hours = listTicks(view, 2400, berlin).map(({ ms }) => berlin.localTime(ms).hour)
  assert.equal(hours.filter((hour) => hour === 2).length >= 2, true)
  assert.equal(listTicks(view, 2400, berlin)[0]!.label, 'day')
})

test('time labels never overlap each other or a day label', () => {
  const shares = fc.uniqueArray(fc.double({ min: 0, max: 1, noNaN: true })).map((all) => all.sort((a, b) => a - b))
  fc.assert(
    fc.property(shares, fc.integer({ min: 320, max: 2000 }), (all, width) => {
      const labels = all.map((share) => ({ place: share * width, text: '11:45 PM', isDay: false }))
      const fitted = fitLabels(labels, width)
      const edges = fitted.map(({ place, text, anchor }) => {
        const left = place - { start: 0, middle: 0.5, end: 1 }[anchor] * text.length * 7
        return [left, left + text.length * 7] as const
      })
      for (const [index, [left]] of edges.entries()) assert.ok(index === 0 || left >= edges[index - 1]![1])
      assert.ok(fitted.length > 0 || all.length === 0)
    }),
  )
  const time = (place: number) => ({ place, text: '11:45 PM', isDay: false })
  const day = { place: 90, text: 'Sat, Nov 21', isDay: true }
  assert.deepEqual(
    fitLabels([time(60), day, time(150), time(400)], 800).map(({ place }) => place),
    [90, 400],
  )
})
