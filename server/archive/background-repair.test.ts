import assert from 'node:assert/strict'
import { appendFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { hourMs, minuteMs, openPlace, type Place, record, t0 } from '../../test/support/archive/temporary-archive.ts'
import { until } from '../../test/support/until.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { Catalog, type FootageGap } from './catalog.ts'
import { FinalSyncs } from './final-syncs.ts'
import { segmentPath } from './layout.ts'

const second = 1000

/** Time that passes when somebody sleeps. */
class SleepyClock implements Clock {
  now = 0
  readonly slept: number[] = []
  nowMs = () => systemClock.nowMs()
  monotonicMs = () => this.now
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.slept.push(ms)
    this.now += ms
    await delay(1)
    signal?.throwIfAborted()
  }
}

/** Cameras that recorded one file each when the process before died; the next process. */
async function crash(cameras: number) {
  const place = await openPlace()
  const files = []
  for (let cameraId = 1; cameraId <= cameras; cameraId++) {
    const file = await record(place, place.catalog, t0 + cameraId * minuteMs, 3, { cameraId })
    await appendFile(file.path, 'half a fragment')
    files.push(file)
  }
  const clock = new SleepyClock()
  const synced: number[] = []
  /** A repair takes this long. */
  const work = { wait: Promise.resolve(), tookMs: 40 }
  const syncs = new FinalSyncs(async () => {
    synced.push(1)
    clock.now += work.tookMs
    await work.wait
  })
  const gaps: FootageGap[] = []
  const next = new Catalog({ ...place.context, clock, syncs, onGap: (gap) => gaps.push(gap) })
  await next.repair.open(files.map(({ segment }) => ({ id: segment.cameraId, createdAtMs: t0 - hourMs })))
  return { place, files, clock, next, synced, gaps, work }
}

function closedCameras({ rows }: Place): number[] {
  return rows.all.filter(({ isClosed }) => isClosed).map(({ cameraId }) => cameraId)
}

test('recorders and requests for footage do not wait for files that a crash left open', async () => {
  const { place, next, work, synced } = await crash(5)
  assert.deepEqual([synced.length, next.repair.progress()], [0, { pending: 5, repaired: 0, failed: 0 }])
  const going = Promise.withResolvers<void>()
  work.wait = going.promise
  const stopping = new AbortController()
  const running = next.repair.run(() => false, stopping.signal)
  await until(() => synced.length > 0)
  // The repair stands still, and recording goes on, also of the camera that it stands at.
  const fresh = await record(place, next, t0 + hourMs, 2, { cameraId: 5, runId: 'next' })
  fresh.close()
  await next.flush(5)
  assert.equal(place.rows.all.at(-1)!.isClosed, true)
  assert.equal((await next.listSegments(5, t0 + hourMs, t0 + 2 * hourMs)).length, 1)
  // What a file that waits may hold is not promised before it was looked at.
  const early = await next.listSegments(5, t0, t0 + hourMs)
  assert.deepEqual(early, [])
  going.resolve()
  await until(() => next.repair.progress().pending === 0)
  assert.equal((await next.listSegments(5, t0, t0 + hourMs))[0]!.fragments.length, 3)
  stopping.abort()
  await running
})

test('the newest files are repaired first, with pauses as long as the repairs, and not while recorders wait for the disk', async () => {
  const { place, next, clock } = await crash(6)
  const order: number[] = []
  const close = place.rows.close.bind(place.rows)
  place.rows.close = (id, values) => {
    order.push(place.rows.all.find((row) => row.id === id)!.cameraId)
    return close(id, values)
  }
  const stopping = new AbortController()
  let isBusy = false
  const running = next.repair.run(() => isBusy, stopping.signal)
  await until(() => closedCameras(place).length >= 2)
  isBusy = true
  await until(() => clock.slept.filter((ms) => ms === 1000).length >= 5)
  const before = next.repair.progress().repaired
  isBusy = false
  await until(() => next.repair.progress().pending === 0)
  stopping.abort()
  await running
  assert.deepEqual(order, [6, 5, 4, 3, 2, 1])
  assert.ok(before < 6, `${before} repaired before the disk had time`)
  assert.ok(clock.slept.filter((ms) => ms === 40).length >= 5, 'a rest after each')
  assert.deepEqual(next.repair.progress(), { pending: 0, repaired: 6, failed: 0 })
})

test('a requested file is repaired at once, and no other', async () => {
  const { place, next, files, clock } = await crash(4)
  clock.sleep = systemClock.sleep
  const [segment] = await next.listSegments(2, t0, t0 + hourMs)
  assert.deepEqual(segment!.fragments, files[1]!.fragments)
  assert.deepEqual(closedCameras(place), [2])
  assert.deepEqual(await next.bounds(3), { startMs: t0 + 3 * minuteMs, endMs: t0 + 3 * minuteMs + 3 * second })
  // A look at when footage ended does not start a repair.
  const startMs = t0 + minuteMs
  assert.deepEqual(await next.knownBounds(1), { startMs, endMs: startMs })
  assert.deepEqual(closedCameras(place), [2, 3])
})

test('a failed repair is reported, does not delay the others, and is retried', async () => {
  const { place, next, files, clock } = await crash(3)
  const away = `${files[1]!.path}.away`
  await rename(files[1]!.path, away)
  // What is in its place cannot be read as a file. Renaming replaces a link in one step: without the file, its row would go.
  await symlink(dirname(away), files[1]!.path)
  const stopping = new AbortController()
  const running = next.repair.run(() => false, stopping.signal)
  await until(() => next.repair.progress().failed === 1 && next.repair.progress().pending === 0)
  assert.deepEqual(closedCameras(place).sort(), [1, 3])
  await rename(away, files[1]!.path)
  clock.now += hourMs
  await until(() => next.repair.progress().failed === 0)
  assert.deepEqual(closedCameras(place).sort(), [1, 2, 3])
  stopping.abort()
  await running
})

test('the gap after a crash begins where the repaired file ends, and new rows do not wait for it', async () => {
  const { place, next, gaps } = await crash(1)
  const fresh = await record(place, next, t0 + hourMs, 1, { gapReason: 'server_down', runId: 'next' })
  fresh.close()
  await next.flush()
  assert.deepEqual([gaps, place.rows.all.at(-1)!.isClosed], [[], true])
  await next.repair.finish()
  await until(() => gaps.length === 1)
  const startMs = t0 + minuteMs + 3 * second
  assert.deepEqual(gaps, [{ cameraId: 1, startMs, endMs: t0 + hourMs, reason: 'server_down' }])
})

test('a file without a row is found while recorders run, and their files are left alone', async () => {
  const { place, next, files, clock } = await crash(1)
  // The crash came between the creation of the file and its row.
  const lost = await record(
    place,
    new Catalog({ ...place.context, rows: (await openPlace()).rows }),
    t0 + 2 * minuteMs,
    2,
  )
  // A recorder has created a file of which nobody has heard yet, and writes it.
  const growing = join(place.archiveDir, segmentPath(1, t0 + 3 * minuteMs))
  await writeFile(growing, 'ftyp')
  const sleep = clock.sleep.bind(clock)
  clock.sleep = async (ms, signal) => {
    await appendFile(growing, 'more')
    await sleep(ms, signal)
  }
  const stopping = new AbortController()
  const running = next.repair.run(() => false, stopping.signal)
  await until(() => place.rows.all.some(({ path, isClosed }) => path === lost.segment.path && isClosed))
  await stat(growing)
  assert.equal(place.rows.all.length, 2)
  stopping.abort()
  await running
  assert.equal(dirname(files[0]!.path), dirname(growing))
})

test('a file without a row is found although another server has recorded the camera since', async () => {
  const { place } = await crash(1)
  await place.start().repairOpen()
  const elsewhere = new Catalog({ ...place.context, rows: (await openPlace()).rows })
  const lost = [2, 3].map((minute) => record(place, elsewhere, t0 + minute * minuteMs, 2))
  const files = await Promise.all(lost)
  const later = { ...files[0]!.segment, placeId: 7, path: 'elsewhere', startMs: t0 + 5 * minuteMs }
  const { endMs, bytes, fragments } = place.rows.all[0]!
  await place.rows.close(await place.rows.insertOpen(later), { endMs, bytes, fragments, checksum: undefined })
  for (const node of [undefined, 'n1']) {
    const next = new Catalog({ ...place.context, node })
    await next.repair.open([{ id: 1, createdAtMs: 0 }])
    const report = await next.repair.finish()
    assert.equal(report.adopted, node === undefined ? 0 : 2)
  }
})

test('files without a row are looked for again if the database was away', async () => {
  const { place, next } = await crash(1)
  const elsewhere = new Catalog({ ...place.context, rows: (await openPlace()).rows })
  const lost = await record(place, elsewhere, t0 + 2 * minuteMs, 2)
  const { listFiles, insertOpen } = place.rows
  const fail = () => Promise.reject(new AppError('unavailable', 'the database is away'))
  const failures = { listFiles: 0, insertOpen: 0 }
  place.rows.listFiles = (...values) => (failures.listFiles++ < 2 ? fail() : listFiles.apply(place.rows, values))
  place.rows.insertOpen = (...values) => (failures.insertOpen++ < 1 ? fail() : insertOpen.apply(place.rows, values))
  const stopping = new AbortController()
  const running = next.repair.run(() => false, stopping.signal)
  await until(() => place.rows.all.some(({ path, isClosed }) => path === lost.segment.path && isClosed))
  stopping.abort()
  await running
})

test('a file without a row is found even if the next server crashed before it had searched', async () => {
  const place = await openPlace()
  ;(await record(place, place.catalog, t0, 3)).close()
  await place.catalog.flush()
  const unheard = new Catalog({ ...place.context, rows: (await openPlace()).rows })
  const lost = await record(place, unheard, t0 + minuteMs, 2)
  // The next server has begun a file of its own, and is killed.
  await record(place, place.start(), t0 + 2 * minuteMs, 2, { runId: 'next' })
  const report = await place.start().repairOpen([{ id: 1, createdAtMs: t0 - hourMs }])
  assert.deepEqual([report.segments, report.adopted], [1, 1])
  assert.ok(place.rows.all.some(({ path, isClosed }) => path === lost.segment.path && isClosed))
})

test('a file without a row is found even if several servers ended before they had searched', async () => {
  const { place } = await crash(1)
  await place.start().repairOpen()
  const elsewhere = new Catalog({ ...place.context, rows: (await openPlace()).rows })
  const lost = await record(place, elsewhere, t0 + 2 * minuteMs, 2)
  const other = { ...lost.segment, placeId: 7, path: 'elsewhere', startMs: t0 + 3 * minuteMs }
  const { endMs, bytes, fragments } = place.rows.all[0]!
  await place.rows.close(await place.rows.insertOpen(other), { endMs, bytes, fragments, checksum: undefined })
  for (let minute = 4; minute < 40; minute++) {
    const next = place.start()
    ;(await record(place, next, t0 + minute * minuteMs, 2, { runId: `${minute}` })).close()
    await next.flush()
  }
  const last = new Catalog({ ...place.context, node: 'n1' })
  await last.repair.open([{ id: 1, createdAtMs: 0 }])
  assert.equal((await last.repair.finish()).adopted, 1)
})

test('a file that is deleted while files without a row are listed hides no other', async () => {
  const { place, next } = await crash(1)
  const elsewhere = new Catalog({ ...place.context, rows: (await openPlace()).rows })
  const [gone, lost] = [
    await record(place, elsewhere, t0 + 2 * minuteMs, 2),
    await record(place, elsewhere, t0 + 3 * minuteMs, 2),
  ]
  const { listFiles } = place.rows
  place.rows.listFiles = async (...values) => {
    await rm(gone.path, { force: true })
    return listFiles.apply(place.rows, values)
  }
  assert.equal((await next.repair.finish()).adopted, 1)
  assert.ok(place.rows.all.some(({ path, isClosed }) => path === lost.segment.path && isClosed))
})

test('a camera that is deleted before its files are repaired leaves nothing behind', async () => {
  const { place, next, files } = await crash(2)
  await next.removeCamera(1)
  assert.deepEqual(
    place.rows.all.map(({ cameraId }) => cameraId),
    [2],
  )
  await assert.rejects(stat(files[0]!.path), { code: 'ENOENT' })
  assert.equal(next.repair.progress().pending, 1)
})

test('repairs wait for an archive that is not mounted', async () => {
  const { place, next, clock } = await crash(2)
  await rename(place.archiveDir, `${place.archiveDir}-away`)
  const stopping = new AbortController()
  const running = next.repair.run(() => false, stopping.signal)
  await until(() => clock.slept.length > 3)
  assert.deepEqual(await next.listSegments(1, t0, t0 + hourMs), [])
  assert.deepEqual(next.repair.progress(), { pending: 2, repaired: 0, failed: 0 })
  await rename(`${place.archiveDir}-away`, place.archiveDir)
  await until(() => next.repair.progress().pending === 0)
  stopping.abort()
  await running
})
