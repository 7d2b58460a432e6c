// Kysely on node:sqlite: one connection, prepared statements kept, write transactions that begin as writers.
//
// Kysely's own SQLite dialect prepares each statement anew and begins transactions as readers, which fails at once when
// another process wrote in between (SQLITE_BUSY_SNAPSHOT) instead of waiting for `busy_timeout`.

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

/** Opens the file in the modes the store relies on; see docs/design/store.md for why each. */
export function openSqlite(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 5000, enableForeignKeyConstraints: true })
  database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma temp_store = memory')
  return database
}

/**
 * The database is closed by `Kysely.destroy()`. After `maxTransactionMs` those who wait for a transaction are told to
 * give up.
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

/** SQLite has no `for update` and the like, and no need of them: a write transaction is the only one. */
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

  /** One at a time: a transaction of one caller must not take in the statements of another. */
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
    // SQLite itself undoes a transaction after some errors, a full disk among them.
    if (this.#database.isTransaction) await this.#connection.executeQuery(CompiledQuery.raw('rollback'))
  }

  /** A transaction that waits for a query outside of it would otherwise wait, and keep all others waiting, for ever. */
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

/** More than the store has; statements with lists of ids vary in length and push out the oldest. */
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
