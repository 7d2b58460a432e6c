// A connection pool for Kysely: statements are prepared once per connection, errors are translated, and broken
// connections are not used again. Of several servers, it uses the primary.

import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import pg from 'pg'
import { createUnavailable, explainPostgresFailure } from './postgres-failure.ts'
import type { PostgresPrimary } from './postgres-primary.ts'
import { PostgresSockets } from './postgres-sockets.ts'

/** `place`: the database's URL without its password, for messages. */
export function createPostgresPool(config: pg.PoolConfig, primary: PostgresPrimary, place: string): PostgresPool {
  const names = new StatementNames()
  let held: ServerPool | undefined
  primary.onLost(() => {
    // What waits for an answer fails at once.
    held?.abandon()
    held = undefined
  })
  return {
    async connect() {
      const url = await primary.find()
      held ??= new ServerPool({ ...config, connectionString: url }, names, place, primary)
      return held.connect()
    },
    end: async () => held?.end(),
  }
}

/** Of one server of `primary`, which hears that it cannot be reached, or takes no writes. */
class ServerPool {
  readonly #sockets = new PostgresSockets()
  readonly #pool: pg.Pool
  readonly #names: StatementNames
  readonly #place: string
  readonly #primary: PostgresPrimary
  readonly #url: string
  readonly #connections = new WeakMap<pg.PoolClient, Connection>()

  constructor(
    config: pg.PoolConfig & { readonly connectionString: string },
    names: StatementNames,
    place: string,
    primary: PostgresPrimary,
  ) {
    this.#url = config.connectionString
    this.#pool = new pg.Pool({ ...config, stream: this.#sockets.create })
    // Idle connections end with the server. The next caller opens a new one and gets the error if that fails.
    this.#pool.on('error', () => {})
    this.#names = names
    this.#place = place
    this.#primary = primary
  }

  async connect(): Promise<Connection> {
    const client = await this.#pool.connect().catch((error) => {
      this.#primary.doubt(this.#url)
      throw createUnavailable(error, this.#place)
    })
    let connection = this.#connections.get(client)
    if (!connection) {
      connection = new Connection(client, this.#names, this.#place, () => this.#primary.lose(this.#url))
      this.#connections.set(client, connection)
    }
    return connection
  }

  abandon(): void {
    this.#sockets.destroy()
    void this.#pool.end().catch(() => {})
  }

  end(): Promise<void> {
    return this.#sockets.end(this.#pool.end())
  }
}

class Connection implements PostgresPoolClient {
  readonly #client: pg.PoolClient
  readonly #names: StatementNames
  readonly #place: string
  readonly #onReadOnly: () => void
  #failure: unknown

  constructor(client: pg.PoolClient, names: StatementNames, place: string, onReadOnly: () => void) {
    this.#client = client
    this.#names = names
    this.#place = place
    this.#onReadOnly = onReadOnly
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
      const { error, isLost, isReadOnly } = explainPostgresFailure(cause, this.#place)
      if (isLost) this.#failure = error
      if (isReadOnly) this.#onReadOnly()
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
