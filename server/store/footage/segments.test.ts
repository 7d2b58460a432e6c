import assert from 'node:assert/strict'
import { testEachDatabase } from '../../../test/postgres/each-database.ts'
import type { Fragment } from '../../model/segment.ts'
import type { OpenSegment } from '../../model/segment-views.ts'
import type { Segments } from './segments.ts'

const minute = 60_000

const opened = (cameraId: number, startMs: number): OpenSegment => ({
  cameraId,
  runId: 'run-1',
  runStart90k: startMs * 90,
  placeId: 1,
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

async function addClosed(
  segments: Segments,
  cameraId: number,
  startMs: number,
  { endMs = startMs + minute, epoch }: { readonly endMs?: number; readonly epoch?: number | undefined } = {},
) {
  const id = await segments.insertOpen(opened(cameraId, startMs), epoch)
  await segments.close(id, { endMs, bytes: 10_800, fragments: [] })
  return id
}

testEachDatabase('a segment is open until closed with its fragments', async (t, { openStore }) => {
  const { segments } = (await openStore(t)).store
  const id = await segments.insertOpen({ ...opened(1, minute), gapReason: 'node_lost' })
  await segments.correctGapReason(id, ['stopped_by_user'], 'overload')
  await segments.correctGapReason(id, ['stopped_by_user', 'node_lost'], 'no_frames')
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
  assert.equal(await segments.sumBytes(1, 0, 10 * minute), 43_200)
  assert.equal(await segments.sumBytes(1, minute, 2 * minute), 10_800)
  assert.equal(await segments.sumBytes(9, 0, 10 * minute), 0)
  assert.deepEqual(await segments.listCameraIds(), [1, 2])
})

testEachDatabase('files of a range, the next and the newest are found, open ones too', async (t, { openStore }) => {
  const { segments } = (await openStore(t)).store
  const closed = await addClosed(segments, 1, minute)
  const open = await segments.insertOpen(opened(1, 3 * minute))
  await addClosed(segments, 2, 9 * minute)
  const ids = async (startMs: number, endMs: number) =>
    (await segments.listFiles(1, startMs, endMs)).map(({ id }) => id).sort()
  assert.deepEqual(await ids(0, 10 * minute), [closed, open])
  assert.deepEqual(await ids(minute, 3 * minute), [closed])
  const file = { id: closed, placeId: 1, path: `1/${minute}.mp4`, startMs: minute, bytes: 10_800, isClosed: true }
  assert.deepEqual(await segments.findNext(1, Number.MIN_SAFE_INTEGER), file)
  assert.equal((await segments.findNext(1, minute + 1))?.id, open)
  assert.equal(await segments.findNext(1, 4 * minute), undefined)
  assert.equal((await segments.findNewest(1))?.id, open)
  assert.equal(await segments.findNewest(3), undefined)
})

testEachDatabase('the counters of a camera follow its rows', async (t, { openStore }) => {
  const { segments } = (await openStore(t)).store
  const ids = []
  for (let i = 0; i < 3; i++) ids.push(await addClosed(segments, 1, i * minute))
  await addClosed(segments, 2, 0)
  const open = await segments.insertOpen(opened(1, 5 * minute))
  const usage = async () => (await segments.listUsage()).map(({ cameraId, ...of }) => [cameraId, of.bytes, of.segments])
  const both = [
    [1, 32_400, 3],
    [2, 10_800, 1],
  ]
  assert.deepEqual(await usage(), both)
  await segments.close(ids[0]!, { endMs: minute, bytes: 800, fragments: [] })
  assert.deepEqual((await usage())[0], [1, 22_400, 3], 'closed again')
  assert.deepEqual(await segments.markPendingDeletions([ids[0]!, open, 999]), [
    { id: ids[0], placeId: 1, path: '1/0.mp4' },
    { id: open, placeId: 1, path: `1/${5 * minute}.mp4` },
  ])
  assert.deepEqual((await usage())[0], [1, 21_600, 2], 'what is open was never counted')
  await segments.close(open, { endMs: 6 * minute, bytes: 5000, fragments: [] })
  assert.deepEqual((await usage())[0], [1, 21_600, 2], 'pending deletions stay pending')
  const counted = { cameraId: 1, placeId: 1, bytes: 21_600, segments: 2 }
  assert.deepEqual(await segments.sumUsage(1), [counted])
  await segments.recount(1)
  assert.deepEqual((await usage())[0], [1, 21_600, 2])
  const at = { placeId: 1, path: `1/${minute}.mp4`, bytes: 10_800 }
  const moved = { placeId: 7, path: 'elsewhere.mp4' }
  await segments.beginCopy(moved, 'command')
  await segments.beginCopy({ ...moved, path: 'another.mp4' }, 'command')
  assert.deepEqual(await segments.listCopies('server'), [])
  assert.ok(!(await segments.move(ids[1]!, { ...at, bytes: 10_801 }, moved)), 'not what was copied')
  assert.ok(await segments.move(ids[1]!, at, moved))
  assert.ok(!(await segments.move(ids[1]!, at, moved)), 'it is not there any more')
  assert.deepEqual(await segments.listCopies(), [{ ...moved, path: 'another.mp4' }])
  await segments.endCopy({ ...moved, path: 'another.mp4' })
  assert.deepEqual(await segments.listCopies('command'), [])
  const ofPlaces = [
    { ...counted, bytes: 10_800, segments: 1 },
    { cameraId: 1, placeId: 7, bytes: 10_800, segments: 1 },
  ]
  const inOrder = (list: readonly { readonly placeId: number }[]) => list.toSorted((a, b) => a.placeId - b.placeId)
  assert.deepEqual(inOrder(await segments.sumUsage(1)), ofPlaces)
  assert.deepEqual(inOrder((await segments.listUsage()).filter(({ cameraId }) => cameraId === 1)), ofPlaces)
  const { placeId, path } = (await segments.find(ids[1]!))!
  assert.deepEqual({ placeId, path }, moved)
  await segments.markPendingDeletions(ids)
  assert.deepEqual(await usage(), [[2, 10_800, 1]])
  assert.deepEqual(
    (await segments.listPendingDeletions(10, 7)).map(({ id }) => id),
    [ids[1]],
  )
})

testEachDatabase('old footage becomes a pending deletion and is then removed', async (t, { openStore }) => {
  const { segments } = (await openStore(t)).store
  for (let i = 0; i < 5; i++) await addClosed(segments, 1, i * minute)
  const old = await segments.listOldest(1, { limit: 2 })
  assert.deepEqual(
    old.map(({ startMs, endMs, bytes }) => [startMs, endMs, bytes]),
    [
      [0, minute, 10_800],
      [minute, 2 * minute, 10_800],
    ],
  )
  const rest = await segments.listOldest(1, { limit: 10, after: old[1] })
  assert.deepEqual(
    rest.map(({ startMs }) => startMs / minute),
    [2, 3, 4],
  )
  const twin = await addClosed(segments, 1, 4 * minute)
  assert.deepEqual(
    (await segments.listOldest(1, { limit: 10, after: rest[2] })).map(({ id }) => id),
    [twin],
    'of two that begin at once the later row follows',
  )
  await segments.remove((await segments.markPendingDeletions([twin])).map(({ id }) => id))
  const ids = old.map((segment) => segment.id)
  const pending = await segments.markPendingDeletions(ids)
  assert.deepEqual(
    pending.map(({ path }) => path),
    ['1/0.mp4', `1/${minute}.mp4`],
  )
  assert.deepEqual(await segments.findBounds(1), { startMs: 2 * minute, endMs: 5 * minute })
  assert.deepEqual(await segments.listPendingDeletions(10), pending)
  await segments.remove(ids)
  assert.deepEqual(await segments.listPendingDeletions(10), [])
  await segments.markPendingDeletions([])
  await segments.remove([])
})

testEachDatabase(
  'footage recorded with a clock that was set back comes after what was recorded before',
  async (t, { openStore }) => {
    const { segments } = (await openStore(t)).store
    const add = (startMinute: number, epoch?: number) => addClosed(segments, 1, startMinute * minute, { epoch })
    await addClosed(segments, 2, 0)
    for (const startMinute of [100, 101, 102]) await add(startMinute)
    assert.deepEqual(await segments.findBounds(1), { startMs: 100 * minute, endMs: 103 * minute })
    await add(101, 1)
    await add(102)
    await add(50, 2)
    await add(51)
    // A file of the first epoch is found again later. What is recorded next belongs to the third.
    await add(103, 0)
    await add(52)
    const order = [100, 101, 102, 103, 101, 102, 50, 51, 52]
    const startsOf = (list: readonly { readonly startMs: number }[]) => list.map(({ startMs }) => startMs / minute)
    assert.deepEqual(startsOf(await segments.listBetween(1, 0, 200 * minute)), order)
    const spans = await segments.listSpans(1, 0, 200 * minute)
    assert.deepEqual(startsOf(spans), order)
    assert.deepEqual(
      spans.map(({ epoch }) => epoch),
      [0, 0, 0, 0, 1, 1, 2, 2, 2],
    )
    assert.deepEqual(startsOf(await segments.listBetween(1, 101 * minute, 102 * minute)), [101, 101])
    for (const limit of [1, 2, 4, 100]) {
      const seen: number[] = []
      let after: Awaited<ReturnType<typeof segments.listOldest>>[number] | undefined
      for (;;) {
        const page = await segments.listOldest(1, { limit, after })
        seen.push(...startsOf(page))
        after = page.at(-1)
        if (page.length < limit) break
      }
      assert.deepEqual(seen, order, `pages of ${limit}`)
    }
    assert.deepEqual(await segments.findBounds(1), {
      startMs: 50 * minute,
      endMs: 104 * minute,
      oldest: { epoch: 0, startMs: 100 * minute },
      newest: { epoch: 2, startMs: 52 * minute, endMs: 53 * minute },
    })
    assert.deepEqual(await segments.findLast(1), { startMs: 52 * minute, endMs: 53 * minute, epoch: 2 })
    assert.equal((await segments.findNewest(1))?.startMs, 52 * minute)
    assert.equal((await segments.findNext(1, 0))?.startMs, 50 * minute)
    assert.equal((await segments.findBounds(2))?.newest, undefined)
  },
)

testEachDatabase(
  'footage ends with the file that ends last, also when another epoch has one that begins later',
  async (t, { openStore }) => {
    const { segments } = (await openStore(t)).store
    await addClosed(segments, 1, 100 * minute, { endMs: 100.2 * minute })
    await addClosed(segments, 1, 99.9 * minute, { endMs: 100.8 * minute, epoch: 1 })
    assert.equal((await segments.findBounds(1))?.endMs, 100.8 * minute)
  },
)

testEachDatabase(
  'epochs are forgotten with their footage, and new segments are of the last one',
  async (t, { openStore }) => {
    const { segments } = (await openStore(t)).store
    const add = (startMinute: number, epoch?: number) => addClosed(segments, 1, startMinute * minute, { epoch })
    assert.equal(await segments.findLastEpoch(1), 0)
    const ids = [await add(100), await add(50, 1), await add(40, 2)]
    await segments.markPendingDeletions(ids)
    assert.equal(await segments.findLast(1), undefined)
    assert.equal(await segments.findLastEpoch(1), 2)
    const kept = await add(60)
    assert.equal((await segments.find(kept))?.epoch, 2)
    await add(30, 3)
    await add(31)
    const oldest = await segments.listOldest(1, { limit: 10 })
    assert.deepEqual(
      oldest.map(({ startMs }) => startMs / minute),
      [60, 30, 31],
    )
    assert.deepEqual((await segments.findBounds(1))?.oldest, { epoch: 2, startMs: 60 * minute })
    await segments.removeClockEpochs(1)
    assert.equal(await segments.findLastEpoch(1), 0)
  },
)

testEachDatabase('audio is found in any segment of a range, and only there', async (t, { openStore }) => {
  const { segments } = (await openStore(t)).store
  for (const i of [0, 1, 2, 3]) {
    const codecs = i === 2 ? 'avc1.4d401f,mp4a.40.2' : 'avc1.4d401f'
    const id = await segments.insertOpen({ ...opened(1, i * minute), codecs })
    await segments.close(id, { endMs: (i + 1) * minute, bytes: 10_800, fragments: [] })
  }
  await addClosed(segments, 2, 0)
  for (const [from, to, expected] of [
    [0, 4, true],
    [0, 2, false],
    [2, 3, true],
    [3, 4, false],
  ] as const) {
    assert.equal(await segments.hasAudio(1, from * minute, to * minute), expected, `minutes ${from} to ${to}`)
  }
})
