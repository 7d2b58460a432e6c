// The disk as the recorders of a worker see it: files are created only where the archive is, space that stays free is
// not written to, and only some operations run at once.

import { dirname } from 'node:path'
import { isArchiveThere } from '../archive/archive-folder.ts'
import { Semaphore } from '../base/semaphore.ts'
import { createDiskError } from './disk-error.ts'
import { FreeSpaceGuard, type FreeSpaceOptions } from './free-space-guard.ts'
import type { RecordingDisk, RecordingFile } from './recording-disk.ts'

export type GuardedDiskOptions = FreeSpaceOptions & {
  readonly maxOperations: number
  /**
   * Called when operations begin that others wait for, those of files that begin or end; what it returns, when they
   * have ended.
   */
  readonly attend?: () => () => void
}

/** A new file and its folder, at most. */
const fileBytes = 16 * 1024

export type GuardedDisk = RecordingDisk & {
  /** Operations that wait for others to end. */
  waiting(): number
}

export function createGuardedDisk(disk: RecordingDisk, options: GuardedDiskOptions): GuardedDisk {
  const { archiveDir, maxOperations, attend = () => () => {} } = options
  // A disk that hangs must not take all the threads that the process has for files.
  const semaphore = new Semaphore({ maxRunning: maxOperations })
  const space = new FreeSpaceGuard(options)

  const runAttended = async <T>(operation: () => Promise<T>): Promise<T> => {
    const endAttention = attend()
    try {
      return await semaphore.run(operation)
    } finally {
      endAttention()
    }
  }

  const guardFile = (file: RecordingFile): RecordingFile => ({
    write: (buffers, position) =>
      semaphore.run(async () => {
        await space.reserve(buffers.reduce((sum, { length }) => sum + length, 0))
        await file.write(buffers, position)
      }),
    truncate: (bytes) => runAttended(() => file.truncate(bytes)),
    sync: () => semaphore.run(() => file.sync()),
    close: () => runAttended(() => file.close()),
  })

  return {
    createFile: (path) =>
      runAttended(async () => {
        if (!(await isArchiveThere(archiveDir))) {
          throw createDiskError('EAWAY', `${dirname(path)} is not in an archive: is its disk mounted?`)
        }
        await space.reserve(fileBytes)
        return guardFile(await disk.createFile(path))
      }),
    waiting: () => semaphore.stats().waiting,
    removeFile: (path) => runAttended(() => disk.removeFile(path)),
    syncFolder: (path) => runAttended(() => disk.syncFolder(path)),
  }
}
