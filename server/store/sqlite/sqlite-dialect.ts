// Kysely on node:sqlite: one connection, cached prepared statements, and transactions that begin as writers.
//
// Kysely's own SQLite dialect prepares each statement again and begins transactions as readers. Those fail at once if
// another process wrote in between (SQLITE_BUSY_SNAPSHOT), instead of waiting for `busy_timeout`.

import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  type QueryResult,
  type SelectModifierNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { AppError } from '../../base/error.ts'
import { isSyncFailure, type SyncLoss } from '../engine/sync-loss.ts'
import { checkText, explainSqliteFailure } from './sqlite-failure.ts'

/** Opens the file in the modes that the store relies on; docs/design/store.md explains them. */
export function openSqlite(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 5000, enableForeignKeyConstraints: true })
  try {
    database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma temp_store = memory')
  } catch (error) {
    database.close()
    throw error
  }
  return database
}

/**
 * `Kysely.destroy()` closes the database. A caller that waits longer than `maxTransactionMs` for a transaction gets an
 * error.
 */
export function createSqliteDialect(
  database: DatabaseSync,
  { maxTransactionMs = 10_000, loss }: { readonly maxTransactionMs?: number; readonly loss?: SyncLoss } = {},
): Dialect {
  return {
    createAdapter: () => new TransactionalSqliteAdapter(),
    createDriver: () => new SqliteDriver(database, maxTransactionMs, loss),
    createIntrospector: (kysely: Kysely<unknown>) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new LocklessSqliteQueryCompiler(),
  }
}

/** SQLite has no `for update` and needs none: only one write transaction runs at a time. */
class LocklessSqliteQueryCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (!locks.has(node.modifier)) super.visitSelectModifier(node)
  }
}

const locks: ReadonlySet<string | undefined> = new Set(['ForUpdate', 'ForNoKeyUpdate', 'ForShare', 'ForKeyShare'])

/**
 * SQLite's DDL is transactional, so all pending migrations run in one write transaction: two processes cannot
 * interleave.
 */
class TransactionalSqliteAdapter extends SqliteAdapter implements DialectAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

type Waiting = { readonly resolve: () => void; readonly reject: (error: AppError) => void }

class SqliteDriver implements Driver {
  readonly #database: DatabaseSync
  readonly #connection: SqliteConnection
  #isTaken = false
  #waiting: Waiting[] = []
  readonly #maxTransactionMs: number
  #watchdog: NodeJS.Timeout | undefined

  constructor(database: DatabaseSync, maxTransactionMs: number, loss: SyncLoss | undefined) {
    this.#database = database
    this.#maxTransactionMs = maxTransactionMs
    this.#connection = new SqliteConnection(database, loss)
  }

  async init(): Promise<void> {}

  /** One at a time: a transaction must not contain statements of another caller. */
  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#isTaken) await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }))
    this.#isTaken = true
    return this.#connection
  }

  async releaseConnection(): Promise<void> {
    const next = this.#waiting.shift()
    if (next) next.resolve()
    else this.#isTaken = false
  }

  async beginTransaction(): Promise<void> {
    await this.#connection.executeQuery(CompiledQuery.raw('begin immediate'))
    this.#watchdog = setTimeout(() => this.#giveUpWaiting(), this.#maxTransactionMs).unref()
  }

  async commitTransaction(): Promise<void> {
    await this.#connection.executeQuery(CompiledQuery.raw('commit'))
    clearTimeout(this.#watchdog)
  }

  async rollbackTransaction(): Promise<void> {
    clearTimeout(this.#watchdog)
    // SQLite rolls back a transaction after some errors, for example if the disk is full.
    if (this.#database.isTransaction) await this.#connection.executeQuery(CompiledQuery.raw('rollback'))
  }

  /** Without this, a transaction that waits for a query outside of it would block itself and all others forever. */
  #giveUpWaiting(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const { reject } of waiting) {
      reject(new AppError('unavailable', `a transaction held the database for ${this.#maxTransactionMs} ms`))
    }
    this.#watchdog?.refresh()
  }

  async destroy(): Promise<void> {
    this.#connection.dropStatements()
    this.#database.close()
  }
}

const writingStatement = /^\s*(insert|update|delete|replace|begin|commit|create|alter|drop)\b/i

/** More than the store uses. Statements with lists of ids vary in length and evict the oldest. */
const maxStatements = 256

type PreparedStatement = {
  readonly statement: StatementSync
  readonly returnsRows: boolean
  readonly isWriting: boolean
}

class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #loss: SyncLoss | undefined
  readonly #statements = new Map<string, PreparedStatement>()

  constructor(database: DatabaseSync, loss: SyncLoss | undefined) {
    this.#database = database
    this.#loss = loss
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    checkText(parameters)
    try {
      const { statement, returnsRows, isWriting } = this.#prepare(sql)
      if (isWriting) this.#loss?.check()
      if (returnsRows) return { rows: statement.all(...(parameters as SQLInputValue[])) as R[] }
      const { changes, lastInsertRowid } = statement.run(...(parameters as SQLInputValue[]))
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
    } catch (error) {
      if (this.#loss && isSyncFailure(error)) throw this.#loss.declare(error)
      throw explainSqliteFailure(error)
    }
  }

  // biome-ignore lint/correctness/useYield: nothing in the store is streamed
  async *streamQuery<R>(): AsyncGenerator<QueryResult<R>> {
    throw new Error('streaming is not part of the portable subset the store uses')
  }

  dropStatements(): void {
    this.#statements.clear()
  }

  #prepare(sql: string): PreparedStatement {
    let prepared = this.#statements.get(sql)
    if (!prepared) {
      const statement = this.#database.prepare(sql)
      prepared = { statement, returnsRows: statement.columns().length > 0, isWriting: writingStatement.test(sql) }
      if (this.#statements.size >= maxStatements) this.#statements.delete(this.#statements.keys().next().value!)
      this.#statements.set(sql, prepared)
    }
    return prepared
  }
}
