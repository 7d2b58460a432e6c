import assert from 'node:assert/strict'
import { appendFile, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { MemorySegmentRows } from '../../test/support/archive/memory-segment-rows.ts'
import {
  dayMs,
  hourMs,
  laterClock,
  minuteMs,
  openPlace,
  record,
  t0,
} from '../../test/support/archive/temporary-archive.ts'
import { systemClock } from '../base/clock.ts'
import { markerName } from '../places/place-folder.ts'
import { Catalog } from './catalog.ts'
import { checkArchive, isClean } from './check.ts'
import { segmentPath } from './layout.ts'
import { scanSegmentFile } from './segment-scan.ts'

test('after a crash, complete fragments are kept, the rest is cut off, and empty files are deleted', async () => {
  const place = await openPlace()
  const whole = await record(place, place.catalog, t0, 5)
  await appendFile(
    whole.path,
    (await readFile(whole.path)).subarray(whole.fragments[0]!.offset, whole.fragments[1]!.offset - 1),
  )
  const empty = await record(place, place.catalog, t0 + minuteMs, 0, { cameraId: 2 })
  const missing = await record(place, place.catalog, t0, 1, { cameraId: 3 })
  await rm(missing.path)
  const zeros = await record(place, place.catalog, t0, 3, { cameraId: 4 })
  await appendFile(zeros.path, new Uint8Array(10_000))
  const report = await place.start().repairOpen()
  assert.equal(report.segments, 4)
  assert.equal(report.removed, 2)
  assert.equal(report.fragments, 8)
  const [first, fourth] = place.rows.all
  assert.deepEqual(first!.fragments, whole.fragments)
  assert.deepEqual(fourth!.fragments, zeros.fragments)
  assert.equal(first!.isClosed, true)
  assert.equal(first!.endMs, t0 + 5000)
  assert.equal((await stat(whole.path)).size, first!.bytes)
  await assert.rejects(stat(empty.path), { code: 'ENOENT' })
  assert.ok(isClean(await checkArchive({ ...place.context, clock: laterClock, isDeep: true })))
  assert.equal((await place.start().repairOpen()).segments, 0)
})

test('a file truncated at any byte is scanned up to its last complete fragment', async () => {
  const place = await openPlace()
  const { path, fragments, segment } = await record(place, place.catalog, t0, 4)
  const bytes = await readFile(path)
  const copy = join(place.archiveDir, 'copy.mp4')
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length), async (length) => {
      await writeFile(copy, bytes.subarray(0, length))
      const scan = await scanSegmentFile(copy)
      const expected = fragments.filter((f) => f.offset + f.bytes <= length)
      assert.deepEqual(scan.fragments, expected)
      assert.equal(scan.initBytes, length >= segment.initBytes ? segment.initBytes : 0)
      assert.equal(scan.damage, undefined)
    }),
    { numRuns: 60 },
  )
})

test('a truncated file is repaired to its remaining footage', async () => {
  const place = await openPlace()
  const { path, fragments } = await record(place, place.catalog, t0, 4)
  await truncate(path, fragments[2]!.offset + 10)
  await place.start().repairOpen()
  assert.equal(place.rows.all[0]!.fragments.length, 2)
})

test('an open file is cut off at the first wrong byte', async () => {
  const place = await openPlace()
  const { path, fragments } = await record(place, place.catalog, t0, 6)
  // A loss of power: the heads are there, a page of samples is not.
  const bytes = await readFile(path)
  const { offset, bytes: length } = fragments[4]!
  bytes.fill(0, offset + length - 20, offset + length)
  await writeFile(path, bytes)
  await place.start().repairOpen()
  assert.deepEqual(place.rows.all[0]!.fragments, fragments.slice(0, 4))
  assert.ok(isClean(await checkArchive({ ...place.context, clock: laterClock, isDeep: true })))
})

test('files without a row get one, or are deleted if they hold no footage', async () => {
  const place = await openPlace()
  ;(await record(place, place.catalog, t0, 3)).close()
  await place.catalog.flush()
  // What the next recorder did before it was killed was never reported.
  const lost = new Catalog({ ...place.context, rows: new MemorySegmentRows() })
  const orphan = await record(place, lost, t0 + dayMs, 3)
  await appendFile(orphan.path, 'half a fragment')
  const empty = await record(place, lost, t0 + dayMs + minuteMs, 0)
  const older = await record(place, lost, t0 - minuteMs, 1)
  const strange = await record(place, lost, t0 + dayMs, 1, { cameraId: 2 })
  const report = await place.start().repairOpen([{ id: 1, createdAtMs: t0 - hourMs }])
  assert.deepEqual([report.segments, report.adopted], [0, 1])
  const [, adopted] = place.rows.all
  assert.equal(adopted!.path, orphan.segment.path)
  assert.deepEqual(adopted!.fragments, orphan.fragments)
  const { codecs, width, height, initHash, startMs } = orphan.segment
  assert.deepEqual(
    [adopted!.codecs, adopted!.width, adopted!.height, adopted!.initHash, adopted!.startMs],
    [codecs, width, height, initHash, startMs],
  )
  assert.equal((await stat(orphan.path)).size, adopted!.bytes)
  await assert.rejects(stat(empty.path), { code: 'ENOENT' })
  const check = await checkArchive({ ...place.context, clock: laterClock, isDeep: true })
  assert.deepEqual(
    check.orphanFiles.map(({ path }) => path),
    [older.segment.path, strange.segment.path],
    'left to check --fix',
  )
})

test('what was recorded after another server took the camera is set aside', async () => {
  const place = await openPlace()
  // Files are created while their server has the camera.
  const t0 = Date.now()
  const open = (cameraId: number, startMs: number, epoch: number, seconds: number) =>
    record(place, place.catalog, startMs, seconds, { cameraId, path: segmentPath(cameraId, startMs, epoch) })
  place.rows.lease = { epoch: 4, takenMs: t0 + 2500 }
  const untilTaken = await open(1, t0, 3, 5)
  const untilFirst = await open(2, t0, 3, 5)
  const successor = await open(2, t0 + 3400, 4, 2)
  const own = await open(3, t0, 4, 5)
  const continued = await open(5, t0, 4, 3)
  const late = await open(5, t0 + 1000, 3, 3)
  const lost = new Catalog({ ...place.context, rows: new MemorySegmentRows() })
  const path = segmentPath(4, t0, 2)
  const orphan = await record(place, lost, t0, 5, { cameraId: 4, path })
  await place.start().repairOpen([{ id: 4, createdAtMs: 0 }])
  const lengths = new Map(place.rows.all.map(({ path, fragments }) => [path, fragments.length]))
  const made = [untilTaken, untilFirst, successor, own, orphan, continued, late]
  assert.deepEqual(
    made.map(({ segment }) => lengths.get(segment.path)),
    [2, 3, 2, 5, 2, 3, undefined],
  )
  const whole = await scanSegmentFile(late.path.replace(late.segment.path, `set-aside/${late.segment.path}`))
  assert.equal(whole.fragments.length, 3)
  for (const { path, segment } of [untilTaken, untilFirst, orphan]) {
    const aside = await scanSegmentFile(path.replace(segment.path, `set-aside/${segment.path}`))
    assert.equal(aside.fragments.length, 5)
    assert.equal((await stat(path)).size, place.rows.all.find((row) => row.path === segment.path)!.bytes)
  }
  assert.ok(isClean(await checkArchive({ ...place.context, clock: systemClock, isDeep: true })))
})

test('of a file that was begun after another server took the camera, nothing is shown', async () => {
  const place = await openPlace()
  place.rows.lease = { epoch: 4, takenMs: Date.now() - 5000 }
  // As of a server that slept: what it receives then has times of before.
  const startMs = Date.now() - 20_000
  const { segment, path } = await record(place, place.catalog, startMs, 3, { path: segmentPath(1, startMs, 3) })
  await place.start().repairOpen([])
  assert.deepEqual(place.rows.all, [])
  assert.equal((await scanSegmentFile(path.replace(segment.path, `set-aside/${segment.path}`))).fragments.length, 3)
})

test('a pending deletion does not reappear as footage after a crash', async () => {
  const place = await openPlace()
  const { path, close } = await record(place, place.catalog, t0, 3)
  close()
  await place.catalog.flush()
  await place.rows.markPendingDeletions([1])
  const report = await place.start().repairOpen([{ id: 1, createdAtMs: 0 }])
  assert.equal(report.adopted, 0)
  await assert.rejects(stat(path), { code: 'ENOENT' })
})

test('footage of an earlier camera with the same id is not adopted', async () => {
  const place = await openPlace()
  const lost = new Catalog({ ...place.context, rows: new MemorySegmentRows() })
  await record(place, lost, t0, 3)
  assert.equal((await place.start().repairOpen([{ id: 1, createdAtMs: t0 + minuteMs }])).adopted, 0)
})

test('an open file on a disk that is not mounted is kept', async () => {
  const place = await openPlace()
  const { path } = await record(place, place.catalog, t0, 3)
  const marker = join(place.archiveDir, markerName)
  await rename(path, `${path}.away`)
  await rm(marker)
  assert.equal((await place.start().repairOpen()).segments, 0)
  assert.equal(place.rows.all.length, 1)
  await rename(`${path}.away`, path)
  await writeFile(marker, '')
  assert.equal((await place.start().repairOpen()).fragments, 3)
})
