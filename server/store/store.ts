// The store: everything the service remembers except the footage itself. One SQLite file, shared with the command line.

import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Kysely, sql } from 'kysely'
import { type Clock, systemClock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { type Logger, silentLogger } from '../base/log.ts'
import { Cameras } from './cameras.ts'
import {
  ChangeFeed,
  type ChangeListener,
  type ChangePublisher,
  type StoreChange,
  watchForeignCommits,
} from './change-feed.ts'
import { migrateToLatest } from './migrations.ts'
import { Recordings } from './recordings.ts'
import type { Tables } from './schema.ts'
import { SealedBox } from './sealed-box.ts'
import { checkSecret } from './secret-check.ts'
import { Segments } from './segments.ts'
import { createSqliteDialect, openSqlite } from './sqlite-dialect.ts'
import { Streams } from './streams.ts'
import { Tokens } from './tokens.ts'
import { inTransaction } from './transaction.ts'
import { Users } from './users.ts'

export type StoreOptions = {
  /** Created, readable by its owner alone, when missing. */
  readonly file: string
  /** 32 bytes; seals the cameras' passwords. */
  readonly credentialsKey: Uint8Array
  readonly clock?: Clock
  readonly log?: Logger
  /** How often to look for changes by other processes; 0 for never. */
  readonly foreignIntervalMs?: number
}

/** One member per table, or group of tables. */
export type StoreTables = {
  readonly users: Users
  readonly cameras: Cameras
  readonly recordings: Recordings
  readonly tokens: Tokens
  readonly segments: Segments
  readonly streams: Streams
}

export type Store = StoreTables & {
  /**
   * Runs `work` as one: all it does through the tables it is given happens, or nothing; listeners hear of it after the commit.
   * The rules of `inTransaction` hold: nothing but these tables, short, and it may be run again.
   */
  transaction<T>(work: (tables: StoreTables) => Promise<T>): Promise<T>
  /** See `ChangeFeed`. */
  readonly version: number
  onChange(listener: ChangeListener): () => void
  /** Resolves once the database answers. */
  check(): Promise<void>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** The database in a data folder: the server's and the command line's. */
export function databaseFile(dataDir: string): string {
  return join(dataDir, 'nightjar.db')
}

/** Throws 'unavailable' when the file cannot be opened and 'corrupt' when it, or the key, is not the right one. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { file, credentialsKey, clock = systemClock, log = silentLogger, foreignIntervalMs = 500 } = options
  const db = await openDatabase(file)
  const box = new SealedBox(credentialsKey)
  try {
    await migrateToLatest(db as unknown as Kysely<never>)
    await checkSecret(db, box)
  } catch (error) {
    await db.destroy()
    throw error
  }

  const feed = new ChangeFeed()
  const closing = new AbortController()
  const readForeignVersion = async () => {
    const { rows } = await sql<{ data_version: number }>`pragma data_version`.execute(db)
    return rows[0]!.data_version
  }
  const watching =
    foreignIntervalMs > 0
      ? watchForeignCommits({ feed, readForeignVersion, intervalMs: foreignIntervalMs, clock, log }, closing.signal)
      : undefined

  const close = async () => {
    closing.abort()
    await watching
    await db.destroy()
  }
  const createTables = (db: Kysely<Tables>, feed: ChangePublisher): StoreTables => ({
    users: new Users(db, feed, clock),
    cameras: new Cameras({ db, feed, clock, box, randomBytes }),
    recordings: new Recordings(db, feed, clock),
    tokens: new Tokens(db, feed, clock),
    segments: new Segments(db),
    streams: new Streams(db),
  })
  const transaction = async <T>(work: (tables: StoreTables) => Promise<T>): Promise<T> => {
    const changes = new Set<StoreChange>()
    const result = await inTransaction(db, (transaction) => {
      changes.clear()
      return work(createTables(transaction, { publish: (change) => changes.add(change) }))
    })
    for (const change of changes) feed.publish(change)
    return result
  }
  return {
    ...createTables(db, feed),
    transaction,
    get version() {
      return feed.version
    },
    onChange: (listener) => feed.onChange(listener),
    check: async () => {
      await sql`select 1`.execute(db)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function openDatabase(file: string): Promise<Kysely<Tables>> {
  try {
    // SQLite gives its own files the modes of the database's, so the mode is right from the first byte.
    await (await open(file, 'a', 0o600)).close()
    return new Kysely<Tables>({ dialect: createSqliteDialect(openSqlite(file)) })
  } catch (cause) {
    throw new AppError('unavailable', `the database ${file} cannot be opened`, { cause })
  }
}
