import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { MemorySegmentRows } from '../../test/support/archive/memory-segment-rows.ts'
import { minuteMs, openPlace, record, t0 } from '../../test/support/archive/temporary-archive.ts'
import { systemClock } from '../base/clock.ts'
import { deleteSegments, finishPendingDeletions } from './deletion.ts'
import { DeletionSteps } from './deletion-steps.ts'

/** Rows that report each write before it happens. */
class LoggedRows extends MemorySegmentRows {
  onSync = async () => {}
  onRemove = () => {}

  override async sync(): Promise<void> {
    await this.onSync()
  }

  override async remove(ids: readonly number[]): Promise<void> {
    this.onRemove()
    await super.remove(ids)
  }
}

async function openPlaceWith(rows: LoggedRows, files: number) {
  const place = await openPlace({ ...systemClock, sleep: async () => {} }, rows)
  for (let i = 0; i < files; i++) (await record(place, place.catalog, t0 + i * minuteMs, 1)).close()
  await place.catalog.flush()
  const ids = rows.all.map(({ id }) => id)
  const paths = rows.all.map(({ path }) => join(place.archiveDir, path))
  const countFiles = () => paths.filter((path) => existsSync(path)).length
  return { ...place, ids, countFiles }
}

test('a file is deleted after its pending deletion is on the disk, and the pending deletion after the file', async () => {
  const rows = new LoggedRows()
  const { context, ids, countFiles } = await openPlaceWith(rows, 3)
  const seen: [string, number, number][] = []
  const note = async (what: string) => void seen.push([what, rows.all.length, countFiles()])
  rows.onSync = () => note('sync')
  rows.onRemove = () => void note('remove')
  await deleteSegments(context, ids)
  assert.deepEqual(seen, [
    ['sync', 0, 3],
    ['remove', 0, 0],
  ])
  assert.deepEqual(await rows.listPendingDeletions(10), [])
})

test('files on a disk that is unmounted during a deletion are deleted when it is mounted again', async () => {
  const rows = new LoggedRows()
  const { context, ids, countFiles, archiveDir } = await openPlaceWith(rows, 3)
  rows.onSync = () => rename(archiveDir, `${archiveDir}.away`)
  await deleteSegments(context, ids)
  await rename(`${archiveDir}.away`, archiveDir)
  assert.equal(countFiles(), 3)
  rows.onSync = async () => {}
  await finishPendingDeletions(context)
  assert.equal(countFiles(), 0)
  assert.deepEqual(await rows.listPendingDeletions(10), [])
})

test('files in places of other servers are left to these, without a word', async () => {
  const rows = new LoggedRows()
  const { context, ids, countFiles } = await openPlaceWith(rows, 2)
  const [first, second] = ids as [number, number]
  const { placeId, path, bytes } = (await rows.find(first))!
  await rows.move(first, { placeId, path, bytes }, { placeId: 7, path })
  const warnings: unknown[] = []
  const log = { ...context.log, warn: (...line: unknown[]) => void warnings.push(line) }
  await deleteSegments({ ...context, log }, [first, second])
  assert.deepEqual(
    (await rows.listPendingDeletions(10)).map((each) => each.placeId),
    [placeId, 7],
  )
  assert.deepEqual([warnings, countFiles()], [[], 1])
})

test('the folder of a day is deleted with its last file, except that of today, where a recorder may create a file', async () => {
  const listDays = async (nowMs: number) => {
    const place = await openPlace({ ...systemClock, nowMs: () => nowMs })
    ;(await record(place, place.catalog, t0, 1)).close()
    await place.catalog.flush()
    await deleteSegments(
      place.context,
      place.rows.all.map(({ id }) => id),
    )
    return readdir(join(place.archiveDir, 'cameras/1'))
  }
  assert.deepEqual(await listDays(t0), [new Date(t0).toISOString().slice(0, 10)])
  assert.deepEqual(await listDays(t0 + 86_400_000), [])
})

test('no file is deleted while the index cannot be synced, and all are deleted later', async () => {
  const rows = new LoggedRows()
  const { context, ids, countFiles, archiveDir } = await openPlaceWith(rows, 3)
  rows.onSync = async () => {
    throw new Error('the disk does not answer')
  }
  await assert.rejects(deleteSegments(context, ids), /does not answer/)
  await assert.rejects(finishPendingDeletions(context), /does not answer/)
  assert.equal(countFiles(), 3)
  assert.equal((await rows.listPendingDeletions(10)).length, 3)
  rows.onSync = async () => {}
  await finishPendingDeletions(context)
  assert.equal(countFiles(), 0)
  assert.deepEqual(await rows.listPendingDeletions(10), [])
  assert.deepEqual(await readdir(join(archiveDir, 'cameras/1')), [], 'nor is the empty day left')
})

test('aborted deletion steps leave nothing half done', async () => {
  const rows = new LoggedRows()
  const { context, countFiles } = await openPlaceWith(rows, 12)
  const stop = new AbortController()
  const deleted: number[] = []
  const planned = async function* () {
    yield* rows.all
  }
  await new DeletionSteps().delete(context, planned(), {
    signal: stop.signal,
    onDeleted({ id }) {
      deleted.push(id)
      if (deleted.length === 5) stop.abort()
    },
  })
  assert.ok(deleted.length >= 5 && deleted.length < 12, `${deleted.length} deleted`)
  assert.equal(countFiles(), 12 - deleted.length)
  assert.equal(rows.all.length, 12 - deleted.length)
  assert.deepEqual(await rows.listPendingDeletions(20), [])
})

/** Rows on a disk that takes its time, by a clock of its own: so long for each row that is marked, so long for a sync. */
class SlowRows extends MemorySegmentRows {
  readonly clock = { ms: 0 }
  readonly marks: { readonly ids: number; readonly ms: number }[] = []
  syncs = 0
  readonly #markMs: number
  readonly #syncMs: number

  constructor(markMs: number, syncMs: number) {
    super()
    this.#markMs = markMs
    this.#syncMs = syncMs
  }

  override async markPendingDeletions(ids: readonly number[]) {
    const ms = ids.length * this.#markMs
    this.clock.ms += ms
    this.marks.push({ ids: ids.length, ms })
    return super.markPendingDeletions(ids)
  }

  override async sync(): Promise<void> {
    this.syncs++
    this.clock.ms += this.#syncMs
  }
}

/** Deletes rows whose files are gone already: only the index takes time. */
async function deleteSlowly(rows: SlowRows, files: number, isUrgent = false) {
  const clock = {
    ...systemClock,
    monotonicMs: () => rows.clock.ms,
    sleep: async (ms: number) => void (rows.clock.ms += ms),
  }
  const { context } = await openPlace(clock, rows)
  const planned = Array.from({ length: files }, (_, id) => ({ id: id + 1 }))
  for (const { id } of planned) {
    const startMs = t0 + id * minuteMs
    const path = `cameras/1/2026-01-01/${String(id).padStart(8, '0')}.mp4`
    const values = {
      runId: 'run',
      runStart90k: 0,
      placeId: 1,
      initBytes: 1,
      codecs: '',
      width: 1,
      height: 1,
      initHash: '',
    }
    await rows.insertOpen({ ...values, cameraId: 1, path, startMs, gapReason: undefined })
  }
  const ids = rows.all.map(({ id }) => ({ id }))
  const all = async function* () {
    yield* ids
  }
  const steps = new DeletionSteps()
  let deleted = 0
  const { signal } = new AbortController()
  await steps.delete(context, all(), { signal, isUrgent, onDeleted: () => deleted++ })
  assert.equal(deleted, files)
  return { perSecond: files / (rows.clock.ms / 1000), stats: steps.stats() }
}

test('files of a month share their waits for the disk when they are deleted', async () => {
  const { perSecond } = await deleteSlowly(new SlowRows(0.05, 20), 5000)
  assert.ok(perSecond >= 500, `${Math.round(perSecond)} files a second`)
})

test('slow row updates block the main thread for only a few milliseconds at a time', async () => {
  for (const markMs of [0.02, 0.2, 1]) {
    const rows = new SlowRows(markMs, 20)
    const { stats } = await deleteSlowly(rows, 1000)
    assert.ok(stats.p95Ms <= 6, `${stats.p95Ms} ms at ${markMs} ms a row`)
    assert.ok(Math.max(...rows.marks.map(({ ms }) => ms)) <= 10)
  }
})

test('a usual pass deletes in small batches, and the first batch is larger when space is short', async () => {
  const usual = new SlowRows(0.05, 20)
  await deleteSlowly(usual, 6)
  assert.deepEqual([usual.syncs, Math.max(...usual.marks.map(({ ids }) => ids))], [2, 4])
  const urgent = new SlowRows(0.05, 20)
  await deleteSlowly(urgent, 64, true)
  assert.equal(urgent.syncs, 1)
})
