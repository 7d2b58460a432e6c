// Makes commits to an SQLite file durable without making the main thread wait for the disk: commits without a sync are
// in the write-ahead log, and a thread for files syncs the log.
//
// SQLite does the same at the end of a durable commit, but in the calling thread. A checkpoint in between syncs the log
// and the database itself.

import { type FileHandle, open } from 'node:fs/promises'
import { AppError } from '../../base/error.ts'
import type { SyncLoss } from '../engine/sync-loss.ts'

export type LogSync = {
  /** Resolves when everything that was committed before the call is on the disk. Throws 'unavailable'. */
  sync(): Promise<void>
  close(): Promise<void>
}

/** `loss`: receives a failed sync, after which all calls fail. `datasync`: replaced in tests. */
export function createLogSync(
  databaseFile: string,
  loss: SyncLoss,
  datasync = (log: FileHandle) => log.datasync(),
): LogSync {
  let log: FileHandle | undefined
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  const syncOnce = async () => {
    loss.check()
    try {
      // The log exists while a connection is open.
      log ??= await open(`${databaseFile}-wal`, 'r')
    } catch (cause) {
      throw new AppError('unavailable', 'the database could not be written to the disk', { cause })
    }
    await datasync(log).catch((cause: unknown) => {
      throw loss.declare(cause)
    })
  }
  const start = (): Promise<void> => {
    running = syncOnce().finally(() => {
      running = undefined
    })
    return running
  }
  return {
    sync() {
      if (!running) return start()
      // The running sync may have begun before the commit. All callers meanwhile share the sync after it.
      next ??= running
        .catch(() => {})
        .then(() => {
          next = undefined
          return start()
        })
      return next
    },
    async close() {
      await (next ?? running)?.catch(() => {})
      await log?.close()
    },
  }
}
