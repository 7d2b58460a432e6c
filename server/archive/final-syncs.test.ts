import assert from 'node:assert/strict'
import { appendFile, readdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { openPlace, record, t0 } from '../../test/support/archive/temporary-archive.ts'
import { FinalSyncs } from './final-syncs.ts'
import { createRepairReport, repairSegment } from './repair.ts'

/** A file as a crash leaves it, and the syncs of its repair: those whose numbers are in `failing` fail. */
async function openScene(failing: readonly number[]) {
  const place = await openPlace()
  const { path, fragments } = await record(place, place.catalog, t0, 3)
  await appendFile(path, 'half a fragment')
  const synced: number[] = []
  const syncs = new FinalSyncs(async (file) => {
    synced.push((await file.stat()).ino)
    if (failing.includes(synced.length)) throw Object.assign(new Error('EIO'), { code: 'EIO' })
    await file.datasync()
  })
  const repair = async () => {
    const [segment] = await place.rows.listOpen()
    await repairSegment({ ...place.context, syncs }, segment!, createRepairReport())
  }
  return { place, path, fragments, synced, repair }
}

test('after a failed sync, a repair writes the footage to a new file and syncs that', async () => {
  const { place, path, fragments, synced, repair } = await openScene([1])
  const { ino } = await stat(path)
  await repair()
  const [row] = place.rows.all
  assert.deepEqual([row!.isClosed, row!.fragments.length], [true, fragments.length])
  const found = await stat(path)
  assert.deepEqual([found.size, found.ino === ino], [row!.bytes, false])
  // The file as it was, the copy, and the folder for the name of the copy.
  assert.equal(synced.filter((each) => each === ino).length, 1)
  assert.deepEqual(synced.slice(1, 2), [found.ino])
  assert.equal(synced.length, 3)
})

test('while the disk fails, the row stays open, and no file is synced a second time', async () => {
  const { place, path, synced, repair } = await openScene([1, 2, 4])
  const { ino } = await stat(path)
  await assert.rejects(repair(), { code: 'EIO' })
  assert.equal(place.rows.all[0]!.isClosed, false)
  // The copy succeeds, but not its name.
  await assert.rejects(repair(), { code: 'EIO' })
  assert.equal(place.rows.all[0]!.isClosed, false)
  assert.equal(synced.filter((each) => each === ino).length, 1)
  await repair()
  assert.equal(place.rows.all[0]!.isClosed, true)
  assert.equal((await readdir(dirname(path))).length, 1, 'no copy is left behind')
})
