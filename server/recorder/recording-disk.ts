// The disk as the recorder sees it: files that are created, appended to, synced and closed. An argument of the recorder, so that
// tests can fill or break a disk.

import { constants } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from '../base/sync-folder.ts'
import { LastingFolders } from './lasting-folders.ts'

export type RecordingFile = {
  /** Writes all bytes or throws; after a throw, any part of them may be in the file. */
  write(buffers: readonly Uint8Array[], position: number): Promise<void>
  truncate(bytes: number): Promise<void>
  /** Returns when the file's bytes and length are on the disk. */
  sync(): Promise<void>
  close(): Promise<void>
}

export type RecordingDisk = {
  /** Makes missing folders. Fails with code EEXIST when there is a file of that name. */
  createFile(path: string): Promise<RecordingFile>
  removeFile(path: string): Promise<void>
  /** Makes the names in the folder of `path` last. */
  syncFolder(path: string): Promise<void>
}

/** Of the system. `archiveDir`: as in the paths that are given. */
export function createNodeDisk(archiveDir: string): RecordingDisk {
  const folders = new LastingFolders(archiveDir)
  return {
    async createFile(path) {
      const handle = await openNew(path, folders)
      return {
        async write(buffers, position) {
          let expected = 0
          for (const buffer of buffers) expected += buffer.length
          const { bytesWritten } = await handle.writev(buffers, position)
          if (bytesWritten === expected) return
          // The system stops short without an error when the disk fills in the middle of a write.
          throw Object.assign(new Error(`wrote ${bytesWritten} of ${expected} bytes`), { code: 'ENOSPC' })
        },
        truncate: (bytes) => handle.truncate(bytes),
        sync: () => handle.datasync(),
        close: () => handle.close(),
      }
    },
    removeFile: (path) => unlink(path),
    syncFolder: (path) => syncFolder(dirname(path)),
  }
}

const newFile = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY

async function openNew(path: string, folders: LastingFolders): Promise<FileHandle> {
  const folder = dirname(path)
  for (let attempt = 1; ; attempt++) {
    try {
      await folders.ensure(folder)
      return await open(path, newFile, 0o640)
    } catch (error) {
      // More than once, because retention may remove an empty folder just before.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === 3) throw error
      folders.forget(folder)
    }
  }
}
