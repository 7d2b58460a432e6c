import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testMark } from '../../test/support/archive/one-place.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { markerName, markFolder } from '../places/place-folder.ts'
import { createGuardedDisk, type GuardedDiskOptions } from './guarded-disk.ts'
import { createNodeDisk } from './recording-disk.ts'

const megabyte = 2 ** 20

async function openDisk(t: TestContext, options: Partial<GuardedDiskOptions> = {}) {
  const archiveDir = await mkdtemp(join(tmpdir(), 'nightjar-disk-'))
  t.after(() => rm(archiveDir, { recursive: true, force: true }))
  await markFolder(archiveDir, testMark)
  const disk = createGuardedDisk(createNodeDisk(archiveDir), {
    folder: archiveDir,
    mark: testMark,
    minFreeBytes: 0,
    maxOperations: 4,
    clock: systemClock,
    ...options,
  })
  return { archiveDir, disk, path: (name: string) => join(archiveDir, 'cameras/1/2026-01-02', name) }
}

test('files are created only inside the archive', async (t) => {
  const { archiveDir, disk, path } = await openDisk(t)
  const file = await disk.createFile(path('a.mp4'))
  await rm(join(archiveDir, markerName))
  await assert.rejects(disk.createFile(path('b.mp4')), { code: 'EAWAY' })
  await file.write([Uint8Array.of(1)], 0)
  await file.close()
  await writeFile(join(archiveDir, markerName), '')
  await (await disk.createFile(path('b.mp4'))).close()
})

test('the reserved free space is never used; with plenty of space, the system is asked once per second', async (t) => {
  let now = 0
  let asked = 0
  let freeBytes = 1000 * megabyte
  const clock: Clock = { ...systemClock, monotonicMs: () => now }
  const measure = async () => {
    asked++
    return { totalBytes: 10_000 * megabyte, freeBytes }
  }
  const { disk, path } = await openDisk(t, { clock, measure, minFreeBytes: 100 * megabyte })
  const file = await disk.createFile(path('a.mp4'))
  const write = () => file.write([new Uint8Array(megabyte)], 0)
  for (let i = 0; i < 20; i++) await write()
  assert.equal(asked, 1)
  now = 1100
  await write()
  assert.equal(asked, 2)
  freeBytes = 150 * megabyte
  now = 3000
  for (let i = 0; i < 50; i++) {
    await write()
    freeBytes -= megabyte
  }
  assert.equal(asked, 52, 'the system is asked before every write when little space is left')
  assert.equal(freeBytes, 100 * megabyte)
  await assert.rejects(write(), { code: 'EFLOOR' })
  await assert.rejects(disk.createFile(path('b.mp4')), { code: 'EFLOOR' })
  freeBytes += 3 * megabyte
  await write()
  await file.close()
})

test('opening and closing files keeps rests short, and writing does not', async (t) => {
  let attendants = 0
  const asked: string[] = []
  let name = ''
  const attend = () => {
    attendants++
    asked.push(name)
    return () => void attendants--
  }
  const { disk, path } = await openDisk(t, { attend })
  const run = async <T>(operation: string, work: () => Promise<T>) => {
    name = operation
    return await work()
  }
  const file = await run('create', () => disk.createFile(path('a.mp4')))
  await run('write', () => file.write([Uint8Array.of(1, 2)], 0))
  await run('sync', () => file.sync())
  await run('truncate', () => file.truncate(1))
  await run('close', () => file.close())
  await run('folder', () => disk.syncFolder(join(path('a.mp4'), '..')))
  await run('remove', () => disk.removeFile(path('a.mp4')))
  await assert.rejects(run('failure', () => disk.removeFile(path('none.mp4'))))
  assert.deepEqual(asked, ['create', 'truncate', 'close', 'folder', 'remove', 'failure'])
  assert.equal(attendants, 0)
})
