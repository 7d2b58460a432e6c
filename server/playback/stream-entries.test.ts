import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Fragment, Segment } from '../model/segment.ts'
import { type EntriesOrigin, entryLimits, StreamEntries } from './stream-entries.ts'

const t0 = 1_800_000_000_000

const begin = { position90k: 0, axis90k: 0, isDiscontinuity: false, shortEntries: 2 }
const from = (startMs: number, speed = 1): EntriesOrigin => ({ ...begin, startMs, speed })

type Plan = { fragments: { seconds: number; isKey: boolean }[]; gapMs: number; isNewRun: boolean }

const plans: fc.Arbitrary<Plan[]> = fc.array(
  fc.record({
    fragments: fc.array(fc.record({ seconds: fc.constantFrom(0.5, 1, 1.5), isKey: fc.boolean() }), {
      minLength: 1,
      maxLength: 20,
    }),
    gapMs: fc.constantFrom(0, 0, 0, 5000, 100_000),
    isNewRun: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
)

const speeds = fc.constantFrom(1, 2, 16)

/** Creates segments as the recorder would. */
function createSegments(plans: readonly Plan[]): Segment[] {
  const segments: Segment[] = []
  let ms = t0
  let run90k = 12_345
  let run = 0
  for (const [i, plan] of plans.entries()) {
    ms += plan.gapMs
    run90k += plan.gapMs * 90
    if (plan.isNewRun) {
      run++
      run90k = 77
    }
    const segmentStartMs = ms
    const runStart90k = run90k
    const fragments: Fragment[] = []
    let offset = 1000
    for (const [j, { seconds, isKey }] of plan.fragments.entries()) {
      const duration90k = seconds * 90_000
      fragments.push({
        offset,
        bytes: 100,
        start90k: run90k - runStart90k,
        duration90k,
        startMs: ms,
        durationMs: seconds * 1000,
        isKey: isKey || j === 0,
      })
      offset += 100
      run90k += duration90k
      ms += seconds * 1000
    }
    segments.push({
      id: i + 1,
      cameraId: 1,
      runId: `run-${run}`,
      runStart90k,
      placeId: 1,
      path: '',
      startMs: segmentStartMs,
      endMs: ms,
      bytes: offset,
      initBytes: 1000,
      codecs: '',
      width: 16,
      height: 16,
      initHash: 'a',
      fragments,
      isClosed: true,
      gapReason: undefined,
    })
  }
  return segments
}

/** The segment as it was after its first `count` fragments. */
function truncateSegment(segment: Segment, count: number): Segment {
  const fragments = segment.fragments.slice(0, count)
  const last = fragments.at(-1)
  return { ...segment, fragments, endMs: last ? last.startMs + last.durationMs : segment.startMs, isClosed: false }
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)

test('footage that grows fragment by fragment gives the same entries as the finished footage', () => {
  fc.assert(
    fc.property(plans, fc.nat(60_000), fc.option(fc.nat(120_000)), speeds, (plans, afterMs, lengthMs, speed) => {
      const segments = createSegments(plans)
      const endMs = lengthMs === null ? undefined : t0 + afterMs + lengthMs + 1
      const atOnce = new StreamEntries(from(t0 + afterMs, speed), endMs)
      for (const segment of segments) atOnce.add(segment)
      const growing = new StreamEntries(from(t0 + afterMs, speed), endMs)
      let before = 0
      for (const [i, segment] of segments.entries()) {
        for (let count = 0; count <= segment.fragments.length; count++) {
          // Lists the segments like the catalog, including those that overlap the cursor.
          for (const s of [...segments.slice(0, i), truncateSegment(segment, count)]) growing.add(s)
          assert.ok(growing.entries.length >= before)
          before = growing.entries.length
        }
        growing.add(segment)
      }
      assert.deepEqual(growing.entries, atOnce.entries)
      assert.equal(growing.isFinished, atOnce.isFinished)
    }),
  )
})

test('entries are complete fragments in order, without holes or overlaps, from the requested start', () => {
  fc.assert(
    fc.property(plans, fc.nat(60_000), (plans, afterMs) => {
      const segments = createSegments(plans)
      const startMs = t0 + afterMs
      const stream = new StreamEntries(from(startMs), undefined)
      for (const segment of segments) stream.add(segment)
      stream.finish()
      const { entries } = stream
      const first = entries[0]
      if (!first) {
        assert.ok(segments.every(({ endMs }) => endMs <= startMs))
        return
      }
      let position90k = 0
      for (const [i, entry] of entries.entries()) {
        const segment = segments[entry.segmentId - 1]!
        const inside = segment.fragments.filter(
          (f) => f.offset >= entry.offset && f.offset < entry.offset + entry.bytes,
        )
        assert.equal(sum(inside.map(({ duration90k }) => duration90k)), entry.duration90k)
        assert.equal(entry.position90k, position90k)
        position90k += entry.duration90k
        assert.ok(entry.duration90k <= entryLimits.maxEntry90k + 1.5 * 90_000)
        const before = entries[i - 1]
        if (before?.segmentId === entry.segmentId) assert.equal(entry.offset, before.offset + before.bytes)
        else if (before) assert.equal(entry.offset, 1000)
      }
      const holdsStart = segments[first.segmentId - 1]!.fragments.find(
        (f) => f.startMs <= startMs && startMs < f.startMs + f.durationMs,
      )
      if (holdsStart) assert.ok(first.startMs <= startMs && first.offset <= holdsStart.offset)
      else assert.ok(first.startMs > startMs)
      const last = entries.at(-1)!
      assert.equal(last.startMs + last.durationMs, segments.at(-1)!.endMs)
    }),
  )
})

test('timestamps increase on the time axis of the stream and continue exactly within a run', () => {
  fc.assert(
    fc.property(plans, (plans) => {
      const segments = createSegments(plans)
      const stream = new StreamEntries(from(t0), undefined)
      for (const segment of segments) stream.add(segment)
      let end90k: number | undefined
      for (const [i, segment] of segments.entries()) {
        const { runStart90k, runBase90k, shift90k } = stream.findShift(segment.id)!
        const zero90k = runStart90k - runBase90k + shift90k
        const before = segments[i - 1]
        const isSeamless = before?.runId === segment.runId && before.endMs === segment.startMs
        if (end90k !== undefined && isSeamless) assert.equal(zero90k, end90k)
        else if (end90k !== undefined) assert.ok(zero90k > end90k)
        const isMarked = stream.entries.find(({ segmentId }) => segmentId === segment.id)?.isDiscontinuity ?? false
        assert.equal(isMarked, before !== undefined && !isSeamless)
        end90k = zero90k + sum(segment.fragments.map(({ duration90k }) => duration90k))
      }
    }),
  )
})

test('entries from a later origin, or after earlier ones were dropped, are the same', () => {
  fc.assert(
    fc.property(plans, speeds, fc.nat(20), (plans, speed, at) => {
      const segments = createSegments(plans)
      const whole = new StreamEntries(from(t0, speed), undefined)
      for (const segment of segments) whole.add(segment)
      whole.finish()
      const first = whole.entries[at % Math.max(1, whole.entries.length)]
      if (!first) return
      const index = whole.entries.indexOf(first)
      const { segmentId, offset, position90k, axis90k, isDiscontinuity, startMs } = first
      const { runBase90k, shift90k } = whole.findShift(segmentId)!
      const place = { segmentId, offset, runBase90k, shift90k }
      const shortEntries = Math.max(0, 2 - index)
      const later = new StreamEntries(
        { startMs, speed, position90k, axis90k, isDiscontinuity, shortEntries, place },
        undefined,
      )
      const dropping = new StreamEntries(from(t0, speed), undefined)
      let dropped = 0
      for (const segment of segments) {
        for (const s of segments.filter(({ startMs }) => startMs <= segment.startMs)) {
          if (s.endMs > later.cursorMs) later.add(s)
          dropping.add(s)
        }
        const count = Math.max(0, Math.min(index - dropped, dropping.entries.length - 1))
        dropping.drop(count)
        dropped += count
      }
      later.finish()
      dropping.finish()
      assert.deepEqual(dropping.entries, whole.entries.slice(dropped))
      const [again, ...rest] = later.entries
      assert.deepEqual({ ...again, isFirstOfSegment: first.isFirstOfSegment }, first)
      assert.deepEqual(rest, whole.entries.slice(index + 1))
    }),
  )
})

test('a file of the same run is a discontinuity if a reason for missing footage is known', () => {
  const plan = { fragments: [{ seconds: 1, isKey: true }], isNewRun: false }
  const [first, second, third] = createSegments(Array.from({ length: 3 }, () => ({ ...plan, gapMs: 0 })))
  for (const gapReason of [undefined, 'stopped_by_user']) {
    const entries = new StreamEntries(from(t0), t0 + 10_000)
    for (const segment of [first!, { ...second!, gapReason }, third!]) entries.add(segment)
    const marks = entries.entries.map(({ isDiscontinuity }) => isDiscontinuity)
    assert.ok(marks.length > 0)
    assert.equal(marks.includes(true), gapReason !== undefined)
  }
})
