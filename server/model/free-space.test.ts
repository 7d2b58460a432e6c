import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDiskSpace, reserveFiles } from './free-space.ts'

const ext4 = { bsize: 4096, frsize: 4096, blocks: 1000, bavail: 400, files: 500, ffree: 300 }

test('the space of a disk is what its file system says, in the unit that it counts in', () => {
  const space = { totalBytes: 4_096_000, freeBytes: 1_638_400 }
  assert.deepEqual(readDiskSpace(ext4), { ...space, totalFiles: 500, freeFiles: 300 })
  // virtiofs; nodejs/node#62277
  assert.deepEqual(readDiskSpace({ ...ext4, bsize: 2 ** 20, files: 0, ffree: 2 ** 64 }), space)
  // FUSE without a unit of its own; older systems
  assert.deepEqual(readDiskSpace({ ...ext4, frsize: 0, files: 0, ffree: 0 }), space)
  // Files that are not limited
  assert.deepEqual(readDiskSpace({ ...ext4, files: 10, ffree: 2 ** 64 }), space)
})

test('a file system without a size has no space to speak of, and one that is overdrawn has none left', () => {
  assert.equal(readDiskSpace({ ...ext4, blocks: 0, bavail: 0 }), undefined)
  assert.equal(readDiskSpace({ ...ext4, bsize: 0, frsize: 0 }), undefined)
  const overdrawn = readDiskSpace({ ...ext4, bavail: 2 ** 64 - 5 })
  assert.deepEqual([overdrawn!.totalBytes, overdrawn!.freeBytes], [4_096_000, 0])
  // A pool whose size grows
  assert.equal(readDiskSpace({ ...ext4, bavail: 2000 })!.totalBytes, 8_192_000)
})

test('room for some files is kept, in proportion to how many there can be', () => {
  assert.deepEqual(
    [undefined, 64, 1e5, 1e9].map((totalFiles) => reserveFiles(totalFiles ? { totalFiles } : {})),
    [0, 2, 2000, 2000],
  )
})
