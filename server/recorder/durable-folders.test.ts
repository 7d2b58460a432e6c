import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DurableFolders, type FolderDisk } from './durable-folders.ts'
import { createNodeDisk } from './recording-disk.ts'

/** The root itself is made on the disk of this machine, so it is a folder that exists. */
const archive = tmpdir()
const day = join(archive, 'cameras/1/2026-02-01')

/** Folders in memory. Names whose sync failed count as clean and are lost in a power failure. */
class FolderModel implements FolderDisk {
  readonly folders = new Set<string>()
  readonly #dirty = new Set<string>()
  readonly durable = new Set<string>()
  syncs = 0
  failingSync = 0
  isRemovable = true

  async make(folder: string): Promise<boolean> {
    if (this.folders.has(folder)) return false
    this.folders.add(folder)
    this.#dirty.add(folder)
    return true
  }

  async remove(folder: string): Promise<void> {
    if (!this.isRemovable) throw new Error('EROFS')
    this.folders.delete(folder)
    this.#dirty.delete(folder)
    this.durable.delete(folder)
  }

  async sync(parent: string): Promise<void> {
    const isFailing = ++this.syncs === this.failingSync
    for (const name of this.#dirty) {
      if (name.slice(0, name.lastIndexOf('/')) !== parent) continue
      this.#dirty.delete(name)
      if (!isFailing) this.durable.add(name)
    }
    if (isFailing) throw new Error('EIO')
  }
}

const chain = [join(archive, 'cameras'), join(archive, 'cameras/1'), day]

test('a folder whose entry was not synced is created again before it is used', async () => {
  for (let failingSync = 1; failingSync <= 3; failingSync++) {
    const disk = new FolderModel()
    disk.failingSync = failingSync
    const folders = new DurableFolders(archive, disk)
    await assert.rejects(folders.ensure(day), /EIO/)
    await folders.ensure(day)
    assert.deepEqual([...disk.durable].sort(), chain, `sync ${failingSync}`)
  }
})

test('the newest folders and those in use are remembered', async () => {
  const disk = new FolderModel()
  const folders = new DurableFolders(archive, disk)
  for (let i = 0; i < 11_000; i++) await folders.ensure(`${archive}/cameras/1/day${i}`)
  assert.equal(disk.syncs, 11_002)
  await folders.ensure(join(archive, 'cameras/1/day10999'))
  assert.equal(disk.syncs, 11_002)
  await folders.ensure(join(archive, 'cameras/1/day0'))
  assert.equal(disk.syncs, 11_003, 'the folder is checked again, and its parents are not')
})

test('a folder that can be neither synced nor removed is not used', async () => {
  const disk = new FolderModel()
  disk.failingSync = 3
  disk.isRemovable = false
  const folders = new DurableFolders(archive, disk)
  await assert.rejects(folders.ensure(day), /EIO/)
  await assert.rejects(folders.ensure(day), /EROFS/)
  disk.isRemovable = true
  await folders.ensure(day)
  assert.ok(disk.durable.has(day))
})

test('cameras that start together wait for the same folder, and a durable folder costs nothing', async () => {
  const disk = new FolderModel()
  const folders = new DurableFolders(archive, disk)
  await Promise.all([1, 2, 3].map((camera) => folders.ensure(`${archive}/cameras/${camera}/2026-02-01`)))
  assert.equal(disk.syncs, 7)
  await folders.ensure(join(archive, 'cameras/2/2026-02-01'))
  assert.equal(disk.syncs, 7)
  disk.folders.delete(day)
  folders.forget(day)
  await folders.ensure(day)
  assert.ok(disk.folders.has(day))
})

test("files are created again after a file blocked a folder's path and after a folder was removed", async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'folders-'))
  t.after(() => rm(root, { recursive: true }))
  const disk = createNodeDisk(root)
  const create = async (name: string) => {
    const file = await disk.createFile(join(root, 'cameras/1/2026-02-01', name))
    await file.close()
  }
  await mkdir(join(root, 'cameras'))
  await writeFile(join(root, 'cameras/1'), '')
  await assert.rejects(create('a.mp4'), { code: 'ENOTDIR' })
  await rm(join(root, 'cameras/1'))
  await create('b.mp4')
  await rm(join(root, 'cameras'), { recursive: true })
  await create('c.mp4')
})
