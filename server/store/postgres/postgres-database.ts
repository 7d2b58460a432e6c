// A PostgreSQL database as the store's: a pool of connections, and one that listens for commits of other processes.

import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import type { PoolConfig } from 'pg'
import { AppError } from '../../base/error.ts'
import type { Database } from '../engine/database.ts'
import { migrateToLatest } from '../migrations/migrations.ts'
import type { Tables } from '../schema.ts'
import { openPostgresWatch } from './postgres-changes.ts'
import { createPostgresPool } from './postgres-pool.ts'
import { PostgresPrimary } from './postgres-primary.ts'
import { postgresTypes } from './postgres-types.ts'
import { describePostgresUrl } from './postgres-url.ts'

/** Per process. A few are enough, because no query takes long. */
const maxConnections = 10

/** Throws 'unavailable' if the server does not respond or refuses the connection. No message contains the password. */
export async function openPostgresDatabase(url: string): Promise<Database> {
  const place = describePostgresUrl(url)
  const primary = new PostgresPrimary(url)
  const config = createPostgresConfig()
  await migrate(config, primary, place)
  const pool = createPostgresPool({ ...config, ...limits, max: maxConnections }, primary, place)
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return {
    db,
    sync: async () => {}, // every write is on the disk there, as far as the server is set to be
    settle: () => untilReplicated(db),
    openWatch: (options) => openPostgresWatch({ ...options, config: { ...config, ...limits }, primary, place }),
    // A PostgreSQL server whose disk does not confirm a write stops by itself and recovers.
    lost: new Promise(() => {}),
    onReplaced: (listener) => primary.onReplaced(listener),
    close: () => db.destroy(),
  }
}

/** Timeouts in milliseconds. As with SQLite, a statement waits 5 seconds for a lock. */
const limits = {
  lock_timeout: 5000,
  statement_timeout: 30_000,
  // The client's timeout, for a server that does not respond at all: longer than the server's timeout.
  query_timeout: 35_000,
  idle_in_transaction_session_timeout: 30_000,
} satisfies PoolConfig

/** Options of every connection. */
export function createPostgresConfig() {
  return {
    // By its name, a process distinguishes its own changes from those of others.
    application_name: `nightjar-${randomBytes(8).toString('hex')}`,
    connectionTimeoutMillis: 5000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: postgresTypes,
  } satisfies PoolConfig
}

/** A replica that is further behind is not waited for. Without the role pg_monitor, nothing is known of replicas but that they exist. */
const maxLagMs = 5000
const lagLookMs = 100

/** Replicas have what was written so far, and one that is promoted knows it. Throws the database's errors. */
async function untilReplicated(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ lsn: string }>`select pg_current_wal_lsn()::text as lsn`.execute(db)
  for (let waitedMs = 0; waitedMs < maxLagMs; waitedMs += lagLookMs) {
    const replicas = await sql<{ has_it: boolean | null }>`
      select flush_lsn >= cast(${rows[0]!.lsn} as pg_lsn) as has_it from pg_stat_replication`.execute(db)
    if (replicas.rows.every(({ has_it }) => has_it === true)) return
    await delay(lagLookMs)
  }
}

/** Uses a separate connection without timeouts: a migration may take long, and other processes wait for it. */
async function migrate(config: PoolConfig, primary: PostgresPrimary, place: string): Promise<void> {
  const pool = createPostgresPool({ ...config, max: 1 }, primary, place)
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  try {
    const { rows } = await sql<{ server_encoding: string }>`show server_encoding`.execute(db)
    if (rows[0]!.server_encoding !== 'UTF8') {
      throw new AppError(
        'unavailable',
        `${place}: the database encoding must be UTF8, but it is ${rows[0]!.server_encoding}`,
      )
    }
    await migrateToLatest(db)
  } finally {
    await db.destroy()
  }
}
