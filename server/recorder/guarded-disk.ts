// The disk that the recorders of a worker use. Files are created only inside the place, reserved free space is not
// used, and the number of concurrent operations is limited.

import { dirname } from 'node:path'
import { Semaphore } from '../base/semaphore.ts'
import { isPresent } from '../places/place-folder.ts'
import { createDiskError } from './disk-error.ts'
import { FreeSpaceGuard, type FreeSpaceOptions } from './free-space-guard.ts'
import type { RecordingDisk, RecordingFile } from './recording-disk.ts'

export type GuardedDiskOptions = FreeSpaceOptions & {
  /** See `Place`. */
  readonly mark: string
  readonly maxOperations: number
  /**
   * Called when an operation begins that others wait for: one that opens, truncates, closes or removes a file. The
   * returned function is called when it has ended.
   */
  readonly attend?: () => () => void
}

/** The space for a new file and its folder, at most. */
const fileBytes = 16 * 1024

export type GuardedDisk = RecordingDisk & {
  /** The number of operations that wait for others to end. */
  waiting(): number
}

export function createGuardedDisk(disk: RecordingDisk, options: GuardedDiskOptions): GuardedDisk {
  const { folder, mark, maxOperations, attend = () => () => {} } = options
  // A disk that hangs must not occupy all threads of the process for file operations.
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
        if (!(await isPresent({ folder, mark }))) {
          throw createDiskError(
            'EAWAY',
            `${dirname(path)} is not in a place of the archive: check that its disk is mounted`,
          )
        }
        await space.reserve(fileBytes)
        return guardFile(await disk.createFile(path))
      }),
    waiting: () => semaphore.stats().waiting,
    removeFile: (path) => runAttended(() => disk.removeFile(path)),
    syncFolder: (path) => runAttended(() => disk.syncFolder(path)),
  }
}
