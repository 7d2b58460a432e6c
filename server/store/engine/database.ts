// An open database: an SQLite file or a PostgreSQL database. Their differences are confined to this type, the dialects,
// and the places that test `isPostgres`.

import { type Kysely, PostgresAdapter } from 'kysely'
import type { Clock } from '../../base/clock.ts'
import type { AppError } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import type { Tables } from '../schema.ts'
import type { ChangeFeed } from './change-feed.ts'

export type Database = {
  readonly db: Kysely<Tables>
  /**
   * Resolves when everything committed before, including relaxed writes, is on the disk. Throws 'unavailable'. See
   * log-sync.ts.
   */
  sync(): Promise<void>
  /** Resolves when they are also on the disks of replicas, or those are far behind. Throws 'unavailable'. */
  settle(): Promise<void>
  /** Publishes commits of other processes as 'foreign' changes until it is closed. */
  openWatch(options: WatchOptions): Promise<Watch>
  /**
   * Resolves when the disk failed to confirm a write: nothing more is written, and the process has to
   * exit.
   */
  readonly lost: Promise<AppError>
  /**
   * Called when another server of PostgreSQL has been promoted, which may lack what was committed last. Never with
   * SQLite.
   */
  onReplaced(listener: () => void): void
  close(): Promise<void>
}

export type OpenOptions = {
  /** True for a server, whose requests must not wait for the disk: checkpoints run in another thread. */
  readonly isServer?: boolean
  /** Default: none. */
  readonly log?: Logger
}

export type WatchOptions = {
  readonly feed: ChangeFeed
  /** How often to poll a database that does not notify by itself. */
  readonly intervalMs: number
  readonly clock: Clock
  readonly log: Logger
}

export type Watch = { close(): Promise<void> }

export function isPostgres(db: Kysely<Tables> | Kysely<never>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}
