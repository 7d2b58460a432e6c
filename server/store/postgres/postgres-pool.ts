// A connection pool for Kysely: statements are prepared once per connection, errors are translated, and broken
// connections are not used again.

import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import pg from 'pg'
import { createUnavailable, explainPostgresFailure } from './postgres-failure.ts'
import { PostgresSockets } from './postgres-sockets.ts'

/** `place`: the database's URL without its password, for messages. */
export function createPostgresPool(config: pg.PoolConfig, place: string): PostgresPool {
  const sockets = new PostgresSockets()
  const pool = new pg.Pool({ ...config, stream: sockets.create })
  const names = new StatementNames()
  const connections = new WeakMap<pg.PoolClient, Connection>()
  // Idle connections end with the server. The next caller opens a new one and gets the error if that fails.
  pool.on('error', () => {})
  return {
    async connect() {
      const client = await pool.connect().catch((error) => {
        throw createUnavailable(error, place)
      })
      let connection = connections.get(client)
      if (!connection) connections.set(client, (connection = new Connection(client, names, place)))
      return connection
    },
    end: () => sockets.end(pool.end()),
  }
}

class Connection implements PostgresPoolClient {
  readonly #client: pg.PoolClient
  readonly #names: StatementNames
  readonly #place: string
  #failure: unknown

  constructor(client: pg.PoolClient, names: StatementNames, place: string) {
    this.#client = client
    this.#names = names
    this.#place = place
    // Between two statements of a transaction nothing else listens, and an unhandled 'error' event would end the
    // process.
    client.on('error', (error) => {
      this.#failure ??= explainPostgresFailure(error, place).error
    })
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  // biome-ignore lint/suspicious/noExplicitAny: one of the two; the store uses no cursors
  query(text: unknown, values: readonly unknown[] = []): any {
    return this.#execute(text as string, values as unknown[])
  }

  async #execute(text: string, values: unknown[]): Promise<unknown> {
    if (this.#failure !== undefined) throw this.#failure
    try {
      if (values.length === 0) return await this.#client.query(text)
      const name = this.#names.find(text, values.length)
      return await this.#client.query({ text, values, ...(name !== undefined && { name }) })
    } catch (cause) {
      const { error, isLost } = explainPostgresFailure(cause, this.#place)
      if (isLost) this.#failure = error
      throw error
    }
  }

  release(): void {
    this.#client.release(this.#failure !== undefined)
  }
}

/** More than the store uses. */
const maxStatements = 256
/** Lists of ids make one statement per length. Statements with long lists are not worth caching. */
const maxParameters = 24

/** Names of the prepared statements of connections. */
class StatementNames {
  readonly #names = new Map<string, string>()

  /** Undefined for statements that are not cached. */
  find(text: string, parameters: number): string | undefined {
    if (parameters > maxParameters) return undefined
    let name = this.#names.get(text)
    if (name === undefined && this.#names.size < maxStatements) {
      name = `s${this.#names.size}`
      this.#names.set(text, name)
    }
    return name
  }
}
