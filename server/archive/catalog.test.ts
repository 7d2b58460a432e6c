import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { appendFile, readdir, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { MemorySegmentRows } from '../../test/support/archive/memory-segment-rows.ts'
import { dayMs, hourMs, minuteMs, openPlace, record, t0 } from '../../test/support/archive/temporary-archive.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { LostLease } from '../model/camera-lease.ts'
import { Catalog, type FootageGap } from './catalog.ts'
import { segmentPath } from './layout.ts'

test('the open segment is listed with each new fragment, and only once after it is closed', async () => {
  const place = await openPlace()
  const { catalog } = place
  let notifications = 0
  const stop = catalog.onFragment(1, () => notifications++)
  const { segment, fragments, close } = await record(place, catalog, t0, 5)
  const [open] = await catalog.listSegments(1, t0, t0 + minuteMs)
  assert.deepEqual(open!.fragments, fragments)
  assert.equal(open!.isClosed, false)
  assert.deepEqual(await catalog.findSegment(open!.id), open)
  assert.deepEqual(await catalog.bounds(1), { startMs: t0, endMs: t0 + 5000 })
  assert.equal(catalog.isRecording(1), true)
  close()
  for (let i = 0; i < 20; i++) {
    assert.equal((await catalog.listSegments(1, t0, t0 + minuteMs)).length, 1, 'at every moment of closing')
    assert.equal((await catalog.listSpans(1, t0, t0 + minuteMs)).length, 1)
  }
  await catalog.flush()
  const [closed] = await catalog.listSegments(1, t0, t0 + minuteMs)
  assert.deepEqual(closed, { ...open, isClosed: true, checksum: closed!.checksum })
  assert.ok(closed!.checksum)
  assert.equal(closed!.bytes, (await stat(join(place.archiveDir, segment.path))).size)
  assert.deepEqual(await catalog.listSegments(1, t0 + 5000, t0 + minuteMs), [])
  assert.equal(catalog.isRecording(1), false)
  assert.ok(notifications >= 6)
  stop()
})

test('a segment without fragments is removed when it closes', async () => {
  const place = await openPlace()
  const { close, path } = await record(place, place.catalog, t0, 0)
  close()
  await place.catalog.flush()
  assert.deepEqual(place.rows.all, [])
  await assert.rejects(stat(path), { code: 'ENOENT' })
})

test('the first segment after a restart reports that the server was down', async () => {
  const place = await openPlace()
  ;(await record(place, place.catalog, t0, 2)).close()
  ;(await record(place, place.catalog, t0 + 2000, 2)).close()
  await place.catalog.close()
  const again = place.start()
  await record(place, again, t0 + hourMs, 2)
  await record(place, again, t0 + hourMs, 2, { cameraId: 2 })
  assert.deepEqual(
    place.rows.all.map(({ gapReason }) => gapReason),
    [undefined, undefined, 'server_down', undefined],
  )
  assert.equal((await again.listSpans(1, t0 + hourMs, t0 + dayMs))[0]!.gapReason, 'server_down')
})

test('a gap is reported once, when footage follows it', async () => {
  const place = await openPlace()
  const gaps: FootageGap[] = []
  const open = () => new Catalog({ ...place.context, onGap: (gap) => gaps.push(gap) })
  const catalog = open()
  const first = await record(place, catalog, t0, 3, { gapReason: 'stopped_by_user' })
  first.close()
  const next = await record(place, catalog, t0 + 3000, 2)
  next.close()
  await catalog.flush()
  assert.deepEqual(gaps, [], 'nothing was recorded before the first, and the second goes on')
  const empty = await record(place, catalog, t0 + minuteMs, 0, { gapReason: 'no_frames' })
  empty.close()
  await record(place, catalog, t0 + 2 * minuteMs, 3, { gapReason: 'camera_unreachable' })
  const gap = { cameraId: 1, startMs: t0 + 5000, endMs: t0 + 2 * minuteMs, reason: 'camera_unreachable' }
  assert.deepEqual(gaps, [gap])
  catalog.abandon(1)
  await catalog.flush()
  await catalog.repair.finish()
  const again = open()
  const back = await record(place, again, t0 + 3 * minuteMs, 1)
  assert.deepEqual(gaps.slice(1), [
    { cameraId: 1, startMs: t0 + 2 * minuteMs + 3000, endMs: t0 + 3 * minuteMs, reason: 'server_down' },
  ])
  back.close()
  await record(place, again, t0 - minuteMs, 1, { gapReason: 'stream_changed' })
  assert.deepEqual(gaps.slice(2), [
    { cameraId: 1, startMs: t0 + 3 * minuteMs + 1000, endMs: t0 - minuteMs, reason: 'clock_set' },
  ])
})

test('after all footage is deleted, new footage belongs to the latest clock epoch, open and closed', async () => {
  const place = await openPlace()
  const { catalog, rows } = place
  ;(await record(place, catalog, t0, 2)).close()
  ;(await record(place, catalog, t0 - hourMs, 2)).close()
  await catalog.flush()
  await rows.markPendingDeletions(rows.all.map(({ id }) => id))
  await catalog.close()
  const again = place.start()
  const back = await record(place, again, t0 + hourMs, 2)
  const epochs = async () => (await again.listSegments(1, 0, t0 + dayMs)).map(({ epoch }) => epoch)
  assert.deepEqual(await epochs(), [1])
  back.close()
  await again.flush()
  assert.deepEqual(await epochs(), [1])
  // Footage of a new epoch, and nothing else, is lost.
  ;(await record(place, again, t0 - dayMs, 2)).close()
  await again.flush()
  await rows.markPendingDeletions(rows.all.filter(({ startMs }) => startMs < t0).map(({ id }) => id))
  await again.close()
  const third = place.start()
  ;(await record(place, third, t0 - dayMs + hourMs, 2)).close()
  await third.flush()
  const listed = await third.listSegments(1, 0, t0 + dayMs)
  assert.deepEqual(
    listed.map(({ epoch, startMs }) => [epoch, startMs - t0]),
    [
      [1, hourMs],
      [2, hourMs - dayMs],
    ],
  )
  await third.removeCamera(1)
  assert.equal(await rows.findLastEpoch(1), 0)
})

test('a deleted camera leaves nothing behind, not even its open file', async () => {
  const place = await openPlace()
  ;(await record(place, place.catalog, t0, 2)).close()
  await record(place, place.catalog, t0 + minuteMs, 2)
  await record(place, place.catalog, t0, 2, { cameraId: 2 })
  await place.catalog.removeCamera(1)
  assert.deepEqual(
    place.rows.all.map(({ cameraId }) => cameraId),
    [2],
  )
  assert.deepEqual(await readdir(join(place.archiveDir, 'cameras')), ['2'])
  assert.equal(await place.catalog.bounds(1), undefined)
})

test('a camera that is deleted while its disk is not mounted or the store fails leaves nothing behind later', async () => {
  const waits = { disk: 0, store: 0 }
  const clock: Clock = {
    ...systemClock,
    async sleep(_, signal) {
      signal?.throwIfAborted()
      if (existsSync(place.archiveDir)) waits.store++
      else if (++waits.disk === 3) await rename(`${place.archiveDir}.away`, place.archiveDir)
    },
  }
  const place = await openPlace(clock)
  ;(await record(place, place.catalog, t0, 2)).close()
  await place.catalog.flush()
  const { listOldest } = place.rows
  let failures = 2
  place.rows.listOldest = async (...query) => {
    if (failures-- > 0) throw new Error('the database is starting up')
    return listOldest.apply(place.rows, query)
  }
  await rename(place.archiveDir, `${place.archiveDir}.away`)
  await place.catalog.removeCamera(1)
  assert.deepEqual(await readdir(join(place.archiveDir, 'cameras')), [])
  assert.deepEqual([place.rows.all, await place.rows.listPendingDeletions(1)], [[], []])
  assert.ok(waits.disk === 3 && waits.store >= 2)
})

test('a store that fails for a while loses nothing', async () => {
  let now = 0
  const clock: Clock = { ...systemClock, sleep: async (ms) => void (now += ms) }
  const place = await openPlace(clock)
  const { insertOpen } = place.rows
  let failures = 3
  place.rows.insertOpen = async (segment) => {
    if (failures-- > 0) throw new Error('database is locked')
    return insertOpen.call(place.rows, segment)
  }
  const { close } = await record(place, place.catalog, t0, 2)
  close()
  await place.catalog.flush()
  assert.equal(place.rows.all[0]!.fragments.length, 2)
  assert.ok(now > 1000)
})

test('a row that was written although its answer was lost is not written twice', async () => {
  const clock: Clock = { ...systemClock, sleep: async () => {} }
  const place = await openPlace(clock)
  ;(await record(place, place.catalog, t0, 2)).close()
  await place.catalog.flush()
  const { insertOpen } = place.rows
  let failures = 2
  place.rows.insertOpen = async (segment) => {
    const id = await insertOpen.call(place.rows, segment)
    if (failures-- > 0) throw new Error('the connection was lost')
    return id
  }
  const gapReason = 'camera_unreachable'
  const { close, fragments } = await record(place, place.catalog, t0 + minuteMs, 3, { gapReason })
  close()
  await place.catalog.flush()
  assert.deepEqual(
    place.rows.all.map((row) => [row.isClosed, row.gapReason, row.fragments.length]),
    [
      [true, undefined, 2],
      [true, gapReason, fragments.length],
    ],
  )
})

test('a file whose row was lost while it was written gets another one, whatever has the id now', async () => {
  const place = await openPlace()
  const { catalog, rows } = place
  const { segment, close } = await record(place, catalog, t0, 3)
  await rows.markPendingDeletions(rows.all.map(({ id }) => id))
  const id = await rows.insertOpen({ ...segment, cameraId: 2, path: 'another' })
  close()
  await catalog.flush()
  assert.deepEqual(
    rows.all.map(({ cameraId, path, isClosed, fragments }) => [cameraId, path, isClosed, fragments.length]),
    [
      [2, 'another', false, 0],
      [1, segment.path, true, 3],
    ],
  )
  assert.equal((await catalog.listSegments(1, t0, t0 + minuteMs)).length, 1)
  assert.ok(rows.all[1]!.id > id)
})

test('a file whose row was refused because another server has the camera keeps the reason of the gap before it', async () => {
  const place = await openPlace()
  const open = (startMs: number, epoch: number, gapReason?: string) =>
    record(place, place.catalog, startMs, 2, { path: segmentPath(1, startMs, epoch), ...(gapReason && { gapReason }) })
  ;(await open(t0, 3)).close()
  await place.catalog.flush()
  const { insertOpen } = place.rows
  place.rows.insertOpen = () => Promise.reject(new LostLease({ cameraId: 1, incarnation: 'n1', epoch: 3 }))
  await open(t0 + 20_000, 3, 'no_frames')
  place.rows.lease = { epoch: 5, takenMs: Date.now() }
  await place.catalog.release(1)
  place.rows.insertOpen = insertOpen
  await place.catalog.repair.finish()
  // Another process has recorded it, which can tell nothing any more.
  await record(place, new Catalog({ ...place.context, rows: new MemorySegmentRows() }), t0 + 40_000, 2, {
    path: segmentPath(1, t0 + 40_000, 5),
  })
  await place.start().repairOpen([{ id: 1, createdAtMs: 0 }])
  assert.deepEqual(
    place.rows.all.map(({ startMs, gapReason, fragments }) => [startMs - t0, gapReason, fragments.length]),
    [
      [0, undefined, 2],
      [20_000, 'no_frames', 2],
      [40_000, 'node_lost', 2],
    ],
  )
})

test('what another server has recorded meanwhile is no clock that was set back', async () => {
  const place = await openPlace()
  ;(await record(place, place.catalog, t0, 2, { path: segmentPath(1, t0, 3) })).close()
  await place.catalog.flush()
  const gaps: FootageGap[] = []
  const next = new Catalog({ ...place.context, onGap: (gap) => gaps.push(gap) })
  const { insertOpen } = place.rows
  const refuse = () => Promise.reject(new LostLease({ cameraId: 1, incarnation: 'n1', epoch: 4 }))
  place.rows.insertOpen = async () => {
    // The database is away, and when it is back, another server has the camera and has recorded it.
    place.rows.insertOpen = insertOpen
    await record(place, new Catalog(place.context), t0 + 40_000, 2, { path: segmentPath(1, t0 + 40_000, 5) })
    place.rows.insertOpen = refuse
    throw new AppError('unavailable', 'the database is away')
  }
  await record(place, next, t0 + 20_000, 2, { path: segmentPath(1, t0 + 20_000, 4) })
  place.rows.lease = { epoch: 5, takenMs: Date.now() }
  await next.release(1)
  place.rows.insertOpen = insertOpen
  await next.repair.finish()
  const reasons = new Map(place.rows.all.map(({ startMs, gapReason }) => [startMs - t0, gapReason]))
  assert.equal(reasons.get(20_000), 'node_lost')
  assert.equal(reasons.size, 3)
  assert.deepEqual(gaps, [])
})

test('a gap that the state of a camera explained is that of its server once a file from before it is found', async () => {
  const place = await openPlace()
  const open = (startMs: number, epoch: number, gapReason: string) =>
    record(place, place.catalog, startMs, 2, { path: segmentPath(1, startMs, epoch), gapReason })
  ;(await open(t0, 3, 'no_frames')).close()
  const elsewhere = new Catalog({ ...place.context, rows: new MemorySegmentRows() })
  await record(place, elsewhere, t0 + 20_000, 2, { path: segmentPath(1, t0 + 20_000, 3) })
  // The successor knows the camera as offline, and later sees that itself.
  for (const seconds of [30, 40]) (await open(t0 + seconds * 1000, 4, 'no_frames')).close()
  await place.catalog.flush()
  place.rows.lease = { epoch: 4, takenMs: Date.now() }
  const next = new Catalog({ ...place.context, node: 'n1' })
  await next.repair.open([{ id: 1, createdAtMs: 0 }])
  assert.equal((await next.repair.finish()).adopted, 1)
  const reasons = new Map(place.rows.all.map(({ startMs, gapReason }) => [(startMs - t0) / 1000, gapReason]))
  assert.deepEqual(
    [30, 40].map((seconds) => reasons.get(seconds)),
    ['node_lost', 'no_frames'],
  )
})

test('a file whose row was refused is found although its recorder had crashed', async () => {
  const place = await openPlace()
  const { insertOpen } = place.rows
  place.rows.insertOpen = () => Promise.reject(new LostLease({ cameraId: 1, incarnation: 'n1', epoch: 3 }))
  await record(place, place.catalog, t0, 2, { path: segmentPath(1, t0, 3) })
  place.catalog.abandon(1)
  await place.catalog.release(1)
  place.rows.insertOpen = insertOpen
  assert.equal((await place.catalog.repair.finish()).adopted, 1)
})

test('files whose rows were lost, or lost their end, are found again while others are written', async () => {
  const place = await openPlace()
  const { catalog, rows } = place
  const kept = [await record(place, catalog, Date.now() - 3 * minuteMs, 3), await record(place, catalog, Date.now(), 3)]
  for (const { close } of kept) close()
  await catalog.flush()
  const [first, second] = rows.all
  await rows.reopen(first!.id)
  await rows.markPendingDeletions([second!.id])
  await rows.remove([second!.id])
  const open = await record(place, catalog, Date.now() + minuteMs, 2)
  await catalog.recheck(async () => [{ id: 1, createdAtMs: 0 }])
  await catalog.repair.finish()
  assert.deepEqual(
    rows.all.map(({ path, isClosed }) => [path, isClosed]).sort(),
    [...kept.map(({ segment }) => [segment.path, true]), [open.segment.path, false]].sort(),
  )
})

test('what waits for a store that is away for long is bounded, and read from the files when it is back', async () => {
  const place = await openPlace()
  const catalog = new Catalog({ ...place.context, maxWaitingFragments: 5 })
  const { close } = place.rows
  const back = Promise.withResolvers<void>()
  place.rows.close = async (...values) => {
    await back.promise
    return close.apply(place.rows, values)
  }
  for (const cameraId of [1, 2, 3]) (await record(place, catalog, t0, 3, { cameraId })).close()
  back.resolve()
  await catalog.flush()
  const closed = () => place.rows.all.map(({ isClosed, fragments }) => isClosed && fragments.length)
  assert.deepEqual(closed(), [3, false, false])
  await catalog.repair.finish()
  assert.deepEqual(closed(), [3, 3, 3])
  assert.equal((await catalog.listSegments(3, t0, t0 + hourMs)).length, 1)
  await catalog.close()
})

test('a crashed recorder leaves its complete fragments', async () => {
  const place = await openPlace()
  const { path, fragments } = await record(place, place.catalog, t0, 3)
  await appendFile(path, 'half a fragment')
  place.catalog.abandon(1)
  await place.catalog.flush()
  await place.catalog.repair.finish()
  assert.deepEqual(place.rows.all[0]!.fragments, fragments)
  assert.equal((await stat(path)).size, place.rows.all[0]!.bytes)
  // What the next recorder writes tells why frames are missing before it, however few.
  await record(place, place.catalog, t0 + minuteMs, 2)
  assert.deepEqual(
    place.rows.all.map(({ gapReason }) => gapReason),
    [undefined, 'server_down'],
  )
})

test('the index lists only the confirmed part of a file that the disk did not confirm, without reading the file', async () => {
  const place = await openPlace()
  const { path, fragments, segment } = await record(place, place.catalog, t0, 4)
  const { offset: confirmedBytes } = fragments[3]!
  // The page cache may hold what the disk does not: the file is whole, as far as anybody can read.
  const written = await readFile(path)
  place.catalog.segmentBroken(1, segment.path, { bytes: confirmedBytes, checksum: 7 })
  const [listed] = await place.catalog.listSegments(1, t0, t0 + minuteMs)
  assert.deepEqual(listed!.fragments, fragments.slice(0, 3))
  await place.catalog.flush()
  const [row] = place.rows.all
  assert.deepEqual([row!.isClosed, row!.bytes, row!.checksum], [true, confirmedBytes, 7])
  assert.deepEqual(row!.fragments, fragments.slice(0, 3))
  assert.deepEqual(await readFile(path), written)
})

test('a file of which the disk confirmed nothing is deleted with its row', async () => {
  const place = await openPlace()
  const { path, segment } = await record(place, place.catalog, t0, 4)
  place.catalog.segmentBroken(1, segment.path, { bytes: 0, checksum: 0 })
  assert.deepEqual(await place.catalog.listSegments(1, t0, t0 + minuteMs), [])
  await place.catalog.flush()
  assert.deepEqual(place.rows.all, [])
  await assert.rejects(stat(path), { code: 'ENOENT' })
})
