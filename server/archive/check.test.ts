import assert from 'node:assert/strict'
import { appendFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { MemorySegmentRows } from '../../test/support/archive/memory-segment-rows.ts'
import { dayMs, laterClock, minuteMs, openPlace, record, t0 } from '../../test/support/archive/temporary-archive.ts'
import { markerName } from '../places/place-folder.ts'
import { Catalog } from './catalog.ts'
import { checkArchive, isClean } from './check.ts'
import { segmentPath } from './layout.ts'

const pathsOf = (faulty: readonly { path: string }[]) => faulty.map(({ path }) => path)

test('the check finds files that are missing, unknown, damaged or of a different length', async () => {
  const place = await openPlace(laterClock)
  const made = []
  for (let i = 0; i < 5; i++) {
    const recorded = await record(place, place.catalog, t0 + i * minuteMs, 3)
    recorded.close()
    made.push(recorded)
  }
  await place.catalog.flush()
  assert.ok(isClean(await checkArchive({ ...place.context, isDeep: true })))
  const [good, missing, longer, damaged] = made
  await rm(missing!.path)
  await appendFile(longer!.path, 'x')
  const bytes = await readFile(damaged!.path)
  bytes.fill(0, damaged!.fragments[1]!.offset, damaged!.fragments[1]!.offset + 50)
  await writeFile(damaged!.path, bytes)
  const orphan = segmentPath(9, t0)
  await mkdir(dirname(join(place.archiveDir, orphan)), { recursive: true })
  await writeFile(join(place.archiveDir, orphan), 'x')
  await writeFile(join(place.archiveDir, 'cameras/notes.txt'), 'x')
  const report = await checkArchive({ ...place.context, isDeep: true })
  assert.equal(report.segments, 5)
  assert.equal(report.files, 5)
  assert.deepEqual(pathsOf(report.missingFiles), [missing!.segment.path])
  assert.deepEqual(pathsOf(report.orphanFiles), [orphan])
  assert.deepEqual(
    report.sizeMismatches.map(({ path }) => path),
    [longer!.segment.path],
  )
  assert.deepEqual(
    report.damagedFiles.map(({ path }) => path),
    [damaged!.segment.path],
  )
  assert.ok(!report.damagedFiles.some(({ path }) => path === good!.segment.path))
  assert.equal((await checkArchive(place.context)).damagedFiles.length, 0)
})

test('the check finds replaced files and wrong counters', async () => {
  const place = await openPlace(laterClock)
  const one = await record(place, place.catalog, t0, 3)
  one.close()
  ;(await record(place, place.catalog, t0, 3, { cameraId: 2 })).close()
  await place.catalog.flush()
  // Of the same length, with the same structure and right checksums, but another recording.
  const other = await record(place, new Catalog({ ...place.context, rows: new MemorySegmentRows() }), t0 + 1000, 3)
  await rename(other.path, one.path)
  const usage = await place.rows.listUsage()
  place.rows.listUsage = async () => usage.map((of) => (of.cameraId === 2 ? { ...of, bytes: of.bytes + 1 } : of))
  const report = await checkArchive({ ...place.context, isDeep: true })
  assert.deepEqual(report.damagedFiles, [
    { id: 1, placeId: 1, path: one.segment.path, detail: 'the file holds other footage than was recorded' },
  ])
  assert.deepEqual(report.wrongCounters, [2])
})

test('the check finds a missing day folder, and a folder that is not an archive', async () => {
  const place = await openPlace(laterClock)
  for (const day of [0, 2, 5]) (await record(place, place.catalog, t0 + day * dayMs, 1)).close()
  await place.catalog.flush()
  await rm(dirname(join(place.archiveDir, place.rows.all[1]!.path)), { recursive: true })
  assert.deepEqual(pathsOf((await checkArchive(place.context)).missingFiles), [place.rows.all[1]!.path])
  await rm(join(place.archiveDir, markerName))
  const report = await checkArchive(place.context)
  assert.deepEqual(
    report.missingPlaces.map(({ folder }) => folder),
    [place.archiveDir],
  )
  assert.ok(!isClean({ ...report, missingFiles: [] }))
})
