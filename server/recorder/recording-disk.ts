// The disk as the recorder uses it: files that are created, appended to, synced and closed. An argument of the
// recorder, so that tests can simulate a full or failing disk.

import { constants } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from '../base/sync-folder.ts'
import { DurableFolders } from './durable-folders.ts'

export type RecordingFile = {
  /** Writes all bytes or throws. After an error, the file may contain any part of them. */
  write(buffers: readonly Uint8Array[], position: number): Promise<void>
  truncate(bytes: number): Promise<void>
  /** Resolves when the content and length of the file are on the disk. */
  sync(): Promise<void>
  close(): Promise<void>
}

export type RecordingDisk = {
  /** Creates missing folders. Fails with EEXIST if there is a file of that name. */
  createFile(path: string): Promise<RecordingFile>
  removeFile(path: string): Promise<void>
  /** Makes the entries of the folder of `path` durable. */
  syncFolder(path: string): Promise<void>
}

/** The system's disk. Paths are relative to `folder`. */
export function createNodeDisk(folder: string): RecordingDisk {
  const folders = new DurableFolders(folder)
  return {
    async createFile(path) {
      const handle = await openNew(path, folders)
      return {
        async write(buffers, position) {
          let expected = 0
          for (const buffer of buffers) expected += buffer.length
          const { bytesWritten } = await handle.writev(buffers, position)
          if (bytesWritten === expected) return
          // If the disk fills during a write, the system writes a part without reporting an error.
          throw Object.assign(new Error(`wrote ${bytesWritten} of ${expected} bytes`), { code: 'ENOSPC' })
        },
        truncate: (bytes) => handle.truncate(bytes),
        sync: () => handle.datasync(),
        close: () => handle.close(),
      }
    },
    removeFile: (path) => unlink(path),
    syncFolder: async (path) => void (await syncFolder(dirname(path))),
  }
}

const newFile = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY

async function openNew(path: string, folders: DurableFolders): Promise<FileHandle> {
  const folder = dirname(path)
  for (let attempt = 1; ; attempt++) {
    try {
      await folders.ensure(folder)
      return await open(path, newFile, 0o640)
    } catch (error) {
      // Retry, because retention may just have removed an empty folder.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === 3) throw error
      folders.forget(folder)
    }
  }
}
