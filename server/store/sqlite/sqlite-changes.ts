// Notices commits of other processes to an SQLite file. SQLite does not notify about them, but counts them.

import { errorChain } from '../../base/error.ts'
import { repeat } from '../../base/repeat.ts'
import type { Watch, WatchOptions } from '../engine/database.ts'

export type SqliteWatchOptions = WatchOptions & {
  /** A number that changes after another connection has committed: `pragma data_version`. */
  readonly readForeignVersion: () => Promise<number>
}

/** Checks every `intervalMs`. */
export async function openSqliteWatch(options: SqliteWatchOptions): Promise<Watch> {
  const closing = new AbortController()
  const watching = watch(options, await options.readForeignVersion(), closing.signal)
  return {
    async close() {
      closing.abort()
      await watching
    },
  }
}

async function watch(options: SqliteWatchOptions, firstVersion: number, signal: AbortSignal): Promise<void> {
  const { feed, readForeignVersion, intervalMs, clock, log } = options
  let seen = firstVersion
  const look = async () => {
    try {
      const version = await readForeignVersion()
      if (version !== seen) feed.publish('foreign')
      seen = version
    } catch (error) {
      log.warn({ reason: errorChain(error) }, 'changes by other processes cannot be detected')
    }
  }
  await repeat(look, { clock, signal, intervalMs, isDelayed: true })
}
