import assert from 'node:assert/strict'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  dayMs,
  hourMs,
  minuteMs,
  openPlace,
  type Place,
  record,
  t0,
} from '../../test/support/archive/temporary-archive.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { TrustedTimeState } from '../model/trusted-time.ts'
import { markerName } from '../places/place-folder.ts'
import { checkArchive, isClean } from './check.ts'
import { DeletionClock } from './deletion-clock.ts'
import { Retention, type RetentionOptions } from './retention.ts'

const plenty = async () => ({ totalBytes: 1e12, freeBytes: 1e12 })

function createRetention(place: Place, options: Partial<RetentionOptions> = {}): Retention {
  return new Retention({
    ...place.context,
    loadLimits: async () => ({ cameras: [], users: new Map(), maxBytes: undefined }),
    openFootage: () => place.catalog.openFootage(),
    recordedBytes: () => place.catalog.stats().recordedBytes,
    minFreeBytes: undefined,
    measureDisk: plenty,
    ...options,
  })
}

const { signal } = new AbortController()

test('footage is deleted by age, then by size, oldest first, with empty day folders', async () => {
  const clock: Clock = { ...systemClock, nowMs: () => t0 + 8 * dayMs, sleep: async () => {} }
  const place = await openPlace(clock)
  for (const cameraId of [1, 2]) {
    for (let i = 0; i < 16; i++) {
      ;(await record(place, place.catalog, t0 + i * (dayMs / 2), 2, { cameraId })).close()
    }
  }
  await place.catalog.flush()
  const { bytes } = place.rows.all[0]!
  const cameras = [
    { cameraId: 1, ownerId: 1, maxAgeMs: 7 * dayMs, maxBytes: undefined, isRecorded: true },
    { cameraId: 2, ownerId: 1, maxAgeMs: 30 * dayMs, maxBytes: bytes * 5, isRecorded: false },
  ]
  const loadLimits = async () => ({ cameras, users: new Map(), maxBytes: undefined })
  const retention = createRetention(place, { loadLimits })
  const report = await retention.pass(signal)
  assert.deepEqual(report, { segments: 13, bytes: 13 * bytes, reasons: { age: 2, camera_bytes: 11 } })
  const of = (cameraId: number) => place.rows.all.filter((s) => s.cameraId === cameraId).map(({ startMs }) => startMs)
  assert.deepEqual(of(1)[0], t0 + dayMs)
  assert.deepEqual(
    of(2),
    [11, 12, 13, 14, 15].map((i) => t0 + i * (dayMs / 2)),
  )
  assert.ok(isClean(await checkArchive(place.context)))
  assert.equal((await readdir(join(place.archiveDir, 'cameras/2'))).length, 3)
  assert.equal((await retention.pass(signal)).segments, 0)
  assert.equal(retention.stats().segments, 13)
})

test('an interrupted deletion is completed by the next one', async () => {
  const place = await openPlace()
  const [one, two, three] = await Promise.all(
    [0, 1, 2].map((i) => record(place, place.catalog, t0 + i * minuteMs, 1, { cameraId: i + 1 })),
  )
  for (const { close } of [one!, two!, three!]) close()
  await place.catalog.flush()
  const [first, second] = place.rows.all
  await place.rows.markPendingDeletions([first!.id, second!.id])
  await rm(join(place.archiveDir, first!.path))
  await createRetention(place).pass(signal)
  assert.deepEqual(await place.rows.listPendingDeletions(10), [])
  await assert.rejects(stat(join(place.archiveDir, second!.path)), { code: 'ENOENT' })
  assert.equal(place.rows.all.length, 1)
})

test('on a full disk, only as much of the oldest footage as needed is deleted, and open files are kept', async () => {
  const place = await openPlace()
  for (const [i, cameraId] of [1, 2, 3, 1, 2].entries()) {
    ;(await record(place, place.catalog, t0 + i * minuteMs, 2, { cameraId })).close()
  }
  const open = await record(place, place.catalog, t0 - minuteMs, 2, { cameraId: 4 })
  await place.catalog.flush()
  const { bytes } = place.rows.all[0]!
  let freeBytes = 1_000_000
  const measureDisk = async () => ({ totalBytes: 100_000_000, freeBytes })
  const recordedBytes = () => 0
  const reserve = 2_000_000
  const retention = createRetention(place, {
    measureDisk,
    recordedBytes,
    minFreeBytes: 1_000_000 - reserve + bytes + 1,
  })
  assert.deepEqual((await retention.pass(signal)).reasons, { disk_space: 2 })
  const cameras = () => place.rows.all.map(({ cameraId }) => cameraId)
  assert.deepEqual(cameras(), [3, 1, 2, 4])
  freeBytes = 0
  await retention.pass(signal)
  assert.deepEqual(cameras(), [4])
  assert.ok((await stat(open.path)).size > 0)
})

test('few free files count like few free bytes, and what was deleted for another reason counts for them', async () => {
  const clock: Clock = { ...systemClock, nowMs: () => t0 + 8 * dayMs, sleep: async () => {} }
  const place = await openPlace(clock)
  for (let i = 0; i < 10; i++) (await record(place, place.catalog, t0 + i * minuteMs, 2)).close()
  await place.catalog.flush()
  let freeFiles = 15
  const cameras = [{ cameraId: 1, ownerId: 1, maxAgeMs: 8 * dayMs - minuteMs, maxBytes: undefined, isRecorded: true }]
  const retention = createRetention(place, {
    loadLimits: async () => ({ cameras, users: new Map(), maxBytes: undefined }),
    measureDisk: async () => ({ ...(await plenty()), totalFiles: 1000, freeFiles }),
  })
  assert.deepEqual((await retention.pass(signal)).reasons, { age: 1, disk_space: 4 })
  freeFiles = 20
  assert.equal((await retention.pass(signal)).segments, 0)
})

test('a place that refuses to take more although space is free keeps less for an hour', async () => {
  let monotonicMs = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => monotonicMs }
  const place = await openPlace()
  const add = async (i: number) => {
    ;(await record(place, place.catalog, t0 + i * minuteMs, 2)).close()
    await place.catalog.flush()
  }
  for (let i = 0; i < 40; i++) await add(i)
  const warned: unknown[] = []
  const log: Logger = { ...place.context.log, warn: (_: unknown, text: string) => warned.push(text) }
  const retention = createRetention(place, { clock, log })
  assert.equal((await retention.pass(signal)).segments, 0)
  // A disk that others fill for a moment refuses too.
  retention.noteFull(1)
  assert.equal((await retention.pass(signal)).segments, 0)
  monotonicMs += 120_000
  retention.noteFull(1)
  assert.equal((await retention.pass(signal)).segments, 0)
  monotonicMs += 2000
  retention.noteFull(1)
  assert.deepEqual(
    (await retention.pass(signal)).reasons,
    { disk_space: 8 },
    'eight files, which are more than a tenth',
  )
  for (let i = 40; i < 46; i++) await add(i)
  // Of 40, a tenth less.
  assert.deepEqual((await retention.pass(signal)).reasons, { disk_space: 2 })
  monotonicMs += hourMs
  for (let i = 46; i < 60; i++) await add(i)
  assert.equal((await retention.pass(signal)).segments, 0)
  assert.equal(warned.filter((text) => /takes no more/.test(String(text))).length, 1)
})

test('the log reports the first deletion at once and later ones as hourly totals', async () => {
  const place = await openPlace()
  let monotonicMs = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => monotonicMs }
  const logged: unknown[] = []
  const log: Logger = { ...place.context.log, info: (fields: unknown) => logged.push(fields) }
  let freeBytes = 50_000_000
  const retention = createRetention(place, {
    ...{ clock, log, recordedBytes: () => 0, minFreeBytes: 10_000_000 },
    measureDisk: async () => ({ totalBytes: 100_000_000, freeBytes }),
  })
  for (const [i, free] of [0, 0, 0, 50_000_000].entries()) {
    ;(await record(place, place.catalog, t0 + i * minuteMs, 2)).close()
    await place.catalog.flush()
    monotonicMs = i * 30 * 60_000
    freeBytes = free
    await retention.pass(signal)
  }
  const segments = logged.map((fields) => (fields as { segments: number }).segments)
  assert.deepEqual(segments, [1, 2])
})

test('nothing is deleted for lack of space while the disk is not mounted or does not answer', async () => {
  const place = await openPlace()
  ;(await record(place, place.catalog, t0, 2)).close()
  await place.catalog.flush()
  const failing = async () => {
    throw new Error('EIO')
  }
  let isFailing = false
  const retention = createRetention(place, { measureDisk: () => (isFailing ? failing() : plenty()) })
  await retention.pass(signal)
  assert.deepEqual(retention.stats().disks.get(1), await plenty())
  isFailing = true
  await retention.pass(signal)
  assert.equal(retention.stats().disks.get(1), undefined)
  await rm(join(place.archiveDir, markerName))
  const full = async () => ({ totalBytes: 1e9, freeBytes: 0 })
  await createRetention(place, { measureDisk: full }).pass(signal)
  assert.equal(place.rows.all.length, 1)
})

test('after the clock is set ahead by a year, footage expires by elapsed time, and by the clock after a day', async () => {
  const time = { wallMs: t0 + 7 * dayMs, monotonicMs: 0 }
  const stop = new AbortController()
  const sleep = async () => stop.abort()
  const clock: Clock = { nowMs: () => time.wallMs, monotonicMs: () => time.monotonicMs + 0.3, sleep }
  const place = await openPlace(clock)
  for (let day = 0; day < 7; day++) (await record(place, place.catalog, t0 + day * dayMs, 2)).close()
  await place.catalog.flush()
  const warnings: unknown[] = []
  const log: Logger = { ...place.context.log, warn: (fields: unknown) => warnings.push(fields) }
  let kept: TrustedTimeState | undefined
  const rows = { find: async () => kept, write: async (written: TrustedTimeState) => void (kept = written) }
  const open = async () => {
    const deletionClock = await DeletionClock.open({ rows, clock, log })
    const cameras = [{ cameraId: 1, ownerId: 1, maxAgeMs: 7 * dayMs, maxBytes: undefined, isRecorded: true }]
    const loadLimits = async () => ({ cameras, users: new Map(), maxBytes: undefined })
    return { deletionClock, retention: createRetention(place, { loadLimits, deletionMs: () => deletionClock.nowMs() }) }
  }
  let { deletionClock, retention } = await open()
  const pass = async (ms: number) => {
    time.wallMs += ms
    time.monotonicMs += ms + 0.1
    assert.ok(Number.isInteger(deletionClock.nowMs()))
    return (await retention.pass(signal)).segments
  }
  assert.equal(await pass(0), 0)
  time.wallMs += 365 * dayMs
  assert.equal(await pass(10_000), 1, 'what has become too old by itself')
  assert.equal(Math.round(deletionClock.doubt()!.aheadMs), 365 * dayMs)
  time.wallMs -= 365 * dayMs
  assert.equal(await pass(hourMs), 0)
  assert.equal(deletionClock.doubt(), undefined, 'put right')

  time.wallMs += 365 * dayMs
  assert.equal(await pass(10_000), 0)
  assert.equal(await pass(12 * hourMs), 0)
  await deletionClock.run(stop.signal)
  ;({ deletionClock, retention } = await open())
  assert.equal(await pass(11 * hourMs), 1, 'the second day of footage, while the clock is doubted over a restart')
  assert.equal(await pass(2 * hourMs), 5)
  assert.equal(deletionClock.doubt(), undefined)
  assert.ok(warnings.length >= 1)
})

test('passes run periodically, and at once when woken', async () => {
  const place = await openPlace()
  let passes = 0
  const sleeps: number[] = []
  const stop = new AbortController()
  const clock: Clock = {
    ...systemClock,
    async sleep(ms, signal) {
      if (signal?.aborted) return
      sleeps.push(ms)
      if (sleeps.length === 3) retention.wake()
      if (sleeps.length > 6) stop.abort()
      await new Promise(setImmediate)
    },
  }
  const loadLimits = async () => {
    passes++
    return { cameras: [], users: new Map<number, number>(), maxBytes: undefined }
  }
  const retention = createRetention(place, { loadLimits, clock })
  await retention.run(stop.signal)
  assert.deepEqual(sleeps, [1000, 9000, 1000, 1000, 9000, 1000, 9000])
  assert.equal(passes, 4)
})
