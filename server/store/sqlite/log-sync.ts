// Makes what was committed to a file of SQLite last, without the thread that answers everybody waiting for the disk:
// commits that are not synced are in the write-ahead log, and the log is synced from outside, by a thread for files.
//
// SQLite does the same at the end of a durable commit, but in our thread. A checkpoint in between syncs log and
// database itself.

import { type FileHandle, open } from 'node:fs/promises'
import { AppError } from '../../base/error.ts'
import type { SyncLoss } from '../engine/sync-loss.ts'

export type LogSync = {
  /** Resolves when everything that was committed before the call is on the disk. Throws 'unavailable'. */
  sync(): Promise<void>
  close(): Promise<void>
}

/** `loss`: told of a failed sync, after which all fail. `datasync`: an argument for tests. */
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
      // The log exists as long as a connection does.
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
      // What runs may have begun before the commit; all who come meanwhile share the one after it.
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
