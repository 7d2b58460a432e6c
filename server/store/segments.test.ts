import assert from 'node:assert/strict'
import { testEachDatabase } from '../../test/postgres/each-database.ts'
import type { Fragment } from '../model/segment.ts'
import type { OpenSegmentValues, Segments } from './segments.ts'

const minute = 60_000

const opened = (cameraId: number, startMs: number): OpenSegmentValues => ({
  cameraId,
  runId: 'run-1',
  runStart90k: startMs * 90,
  path: `${cameraId}/${startMs}.mp4`,
  startMs,
  initBytes: 800,
  codecs: 'avc1.4d401f,mp4a.40.2',
  width: 1920,
  height: 1080,
  initHash: 'abc',
  gapReason: undefined,
})

const fragments: Fragment[] = [0, 1].map((i) => ({
  offset: 800 + i * 5000,
  bytes: 5000,
  start90k: i * 180_000,
  duration90k: 180_000,
  startMs: 60_000 + i * 2000,
  durationMs: 2000,
  isKey: true,
}))

async function addClosed(segments: Segments, cameraId: number, startMs: number, endMs = startMs + minute) {
  const id = await segments.insertOpen(opened(cameraId, startMs))
  await segments.close(id, { endMs, bytes: 10_800, fragments: [] })
  return id
}

testEachDatabase('a segment is open until closed with its fragments', async (t, { openStore }) => {
  const { segments } = (await openStore(t)).store
  const id = await segments.insertOpen({ ...opened(1, minute), gapReason: 'no_frames' })
  const open = { ...opened(1, minute), id, endMs: minute, bytes: 800, fragments: [], isClosed: false }
  assert.deepEqual(await segments.listOpen(), [{ ...open, gapReason: 'no_frames' }])
  assert.deepEqual(await segments.listBetween(1, 0, 10 * minute), [])
  assert.equal(await segments.findBounds(1), undefined)
  await segments.close(id, { endMs: minute + 4000, bytes: 10_800, fragments })
  await segments.close(id, { endMs: minute + 4000, bytes: 10_800, fragments })
  assert.deepEqual(await segments.listOpen(), [])
  const closed = (await segments.find(id))!
  assert.deepEqual([closed.endMs, closed.bytes, closed.isClosed], [minute + 4000, 10_800, true])
  assert.deepEqual(closed.fragments, fragments)
  assert.deepEqual(await segments.listBetween(1, 0, 10 * minute), [closed])
  assert.equal(await segments.find(id + 1), undefined)
})

testEachDatabase('footage is found by overlap, in order, per camera', async (t, { openStore }) => {
  const { segments } = (await openStore(t)).store
  for (const i of [2, 0, 1, 5]) await addClosed(segments, 1, i * minute)
  await addClosed(segments, 2, 0)
  const starts = async (startMs: number, endMs: number) =>
    (await segments.listBetween(1, startMs, endMs)).map((segment) => segment.startMs / minute)
  assert.deepEqual(await starts(0, 10 * minute), [0, 1, 2, 5])
  assert.deepEqual(await starts(minute, 2 * minute), [1])
  assert.deepEqual(await starts(minute - 1, 2 * minute + 1), [0, 1, 2])
  assert.deepEqual(await starts(3 * minute, 5 * minute), [])
  assert.deepEqual(
    (await segments.listSpans(1, 2 * minute, 6 * minute)).map((span) => [span.startMs, span.endMs]),
    [
      [2 * minute, 3 * minute],
      [5 * minute, 6 * minute],
    ],
  )
  assert.deepEqual(await segments.findBounds(1), { startMs: 0, endMs: 6 * minute })
  assert.equal(await segments.sumBytes(1), 43_200)
  assert.equal(await segments.sumBytes(9), 0)
  assert.deepEqual(await segments.listCameraIds(), [1, 2])
  assert.deepEqual((await segments.listAfter(0, 3)).length, 3)
})

testEachDatabase('what is too old becomes garbage, then nothing', async (t, { openStore }) => {
  const { segments } = (await openStore(t)).store
  for (let i = 0; i < 5; i++) await addClosed(segments, 1, i * minute)
  const old = await segments.listOldest(1, 3 * minute, 2)
  assert.deepEqual(
    old.map((segment) => segment.startMs),
    [0, minute],
  )
  assert.equal((await segments.listOldest(1, 3 * minute, 10)).length, 3)
  assert.equal((await segments.listOldest(1, Number.MAX_SAFE_INTEGER, 10)).length, 5)
  const ids = old.map((segment) => segment.id)
  await segments.markGarbage(ids)
  assert.deepEqual(await segments.findBounds(1), { startMs: 2 * minute, endMs: 5 * minute })
  assert.deepEqual(
    await segments.listGarbage(10),
    old.map(({ id, path }) => ({ id, path })),
  )
  await segments.remove(ids)
  assert.deepEqual(await segments.listGarbage(10), [])
  await segments.markGarbage([])
  await segments.remove([])
})
