// One of the two databases, opened: a file of SQLite or a database of a PostgreSQL server. What differs between them is
// behind this type, in the dialects, and where `isPostgres` is asked.

import { type Kysely, PostgresAdapter } from 'kysely'
import type { Clock } from '../base/clock.ts'
import type { AppError } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import type { ChangeFeed } from './change-feed.ts'
import type { Tables } from './schema.ts'

export type Database = {
  readonly db: Kysely<Tables>
  /**
   * Resolves when what was committed before, relaxed writes too, is on the disk. Throws 'unavailable'. See log-sync.ts.
   */
  sync(): Promise<void>
  /** From when it resolves until it is closed, commits of other processes become 'foreign' changes of the feed. */
  openWatch(options: WatchOptions): Promise<Watch>
  /**
   * Resolves when the disk has failed to confirm what was written: nothing is written any more, and the process has to
   * end.
   */
  readonly lost: Promise<AppError>
  close(): Promise<void>
}

export type OpenOptions = {
  /** The process answers others, who must not wait for the disk: what can wait is done by another thread. */
  readonly isServer?: boolean
  /** Default: none. */
  readonly log?: Logger
}

export type WatchOptions = {
  readonly feed: ChangeFeed
  /** How often to look, where the database does not tell by itself. */
  readonly intervalMs: number
  readonly clock: Clock
  readonly log: Logger
}

export type Watch = { close(): Promise<void> }

export function isPostgres(db: Kysely<Tables> | Kysely<never>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}
