// The disk as the recorder sees it: files that are created, appended to, synced and closed. An argument of the recorder, so that
// tests can fill or break a disk.

import { constants } from 'node:fs'
import { mkdir, open, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

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

export const nodeDisk: RecordingDisk = {
  async createFile(path) {
    const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY
    const handle = await open(path, flags, 0o640).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      await mkdir(dirname(path), { recursive: true, mode: 0o750 })
      return open(path, flags, 0o640)
    })
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
  async syncFolder(path) {
    const handle = await open(dirname(path), constants.O_RDONLY)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
}
