import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fragment, Segment } from '../model/segment.ts'
import { StreamPart } from './stream-part.ts'

const t0 = Date.UTC(2026, 4, 1, 12)

/** A file with fragments of one second whose wall clock differs from their durations by `offsets` in milliseconds. */
function createSegment(offsets: readonly number[]): Segment {
  const fragments = offsets.map(
    (offsetMs, i): Fragment => ({
      offset: 1000 + i * 100,
      bytes: 100,
      start90k: i * 90_000,
      duration90k: 90_000,
      startMs: t0 + i * 1000 + offsetMs,
      durationMs: 1000,
      isKey: true,
    }),
  )
  const last = fragments.at(-1)!
  return {
    id: 1,
    cameraId: 1,
    runId: 'run',
    runStart90k: 0,
    placeId: 1,
    path: '',
    startMs: fragments[0]!.startMs,
    endMs: last.startMs + last.durationMs,
    bytes: last.offset + last.bytes,
    initBytes: 1000,
    codecs: '',
    width: 16,
    height: 16,
    initHash: 'a',
    fragments,
    isClosed: true,
    gapReason: undefined,
  }
}

/** The dates of the playlist as seconds after the first, each with the sum of the durations since the previous date. */
async function listDates(offsets: readonly number[]): Promise<[dateSeconds: number, playedSeconds: number][]> {
  const segment = createSegment(offsets)
  const part = new StreamPart(
    {
      ...{ part: 0, sequence: 0, discontinuities: 0, speed: 1, startMs: t0 },
      ...{ position90k: 0, axis90k: 0, isDiscontinuity: false, shortEntries: 0 },
    },
    undefined,
  )
  const footage = {
    listSegments: async () => [segment],
    bounds: async () => undefined,
    onFragment: () => () => {},
  }
  await part.addFootage(footage, 1, { startMs: segment.startMs, endMs: segment.endMs }, () => false)
  part.finish()
  const dates: [number, number][] = []
  let playedSeconds = 0
  for (const line of part.playlist(part.endSequence, 'VOD').split('\n')) {
    const [, tag, value = ''] = /^#([A-Z-]+):(.*)$/.exec(line) ?? []
    if (tag === 'EXT-X-PROGRAM-DATE-TIME') dates.push([(Date.parse(value) - t0) / 1000, playedSeconds])
    if (tag === 'EXTINF') playedSeconds += Number.parseFloat(value)
  }
  return dates
}

test('one date is enough for a file whose wall clock advances with its frames', async () => {
  assert.deepEqual(await listDates(Array(30).fill(0)), [[0, 0]])
  // Within the tolerance.
  assert.deepEqual(await listDates(Array.from({ length: 30 }, (_, i) => (i % 2) * 90)), [[0, 0]])
})

test('a wall clock that drifts slowly from the durations gets repeated dates', async () => {
  const dates = await listDates(Array.from({ length: 60 }, (_, i) => i * 20))
  assert.ok(dates.length > 5, `${dates.length} dates`)
  for (const [dateSeconds, playedSeconds] of dates) assert.ok(Math.abs(dateSeconds - playedSeconds * 1.02) < 0.001)
})

test('where the wall clock jumps, a new entry begins with a date', async () => {
  assert.deepEqual(await listDates([0, 0, 0, 0, 0, 0, -700, -700, -700, -700, -700, -700]), [
    [0, 0],
    [5.3, 6],
  ])
  // In the middle of what would have been one entry.
  assert.deepEqual(await listDates([0, 0, 900, 900, 900, 900]), [
    [0, 0],
    [2.9, 2],
  ])
})
