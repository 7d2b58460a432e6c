// A database of two PostgreSQL servers: one takes writes, the other follows it and takes its place when it dies.

import { findOwnPort } from '../support/own-port.ts'
import { TemporaryPostgres } from './temporary-postgres.ts'

export class ReplicatedPostgres implements AsyncDisposable {
  #primary: TemporaryPostgres
  #replica: TemporaryPostgres
  readonly #pathname: string
  /** Of both, in an order that stays the same. */
  readonly #ports: readonly [number, number]

  private constructor(primary: TemporaryPostgres, replica: TemporaryPostgres, pathname: string) {
    this.#primary = primary
    this.#replica = replica
    this.#pathname = pathname
    this.#ports = [primary.port, replica.port]
  }

  /** With an empty database. */
  static async open(bin: string, host: string): Promise<ReplicatedPostgres> {
    await using opened = new AsyncDisposableStack()
    const primary = opened.adopt(await TemporaryPostgres.open(bin, host), (each) => each.close())
    const { pathname } = new URL(await primary.createDatabase())
    const replica = await primary.openReplica(await findOwnPort(host))
    opened.move()
    return new ReplicatedPostgres(primary, replica, pathname)
  }

  /** Names both: whoever connects finds the one that takes writes. */
  get url(): string {
    const { host, password } = this.#primary
    const hosts = this.#ports.map((port) => `${host}:${port}`).join()
    return `postgres://tester:${password}@${hosts}${this.#pathname}`
  }

  get primary(): TemporaryPostgres {
    return this.#primary
  }

  query<Row extends Record<string, unknown>>(text: string): Promise<Row[]> {
    return this.#primary.query<Row>(text, new URL(this.#pathname, this.#primary.url('')).href)
  }

  /** The primary ends as in a power failure, or hangs and is then switched off; the replica is promoted. */
  async failOver(hangsMs: number): Promise<void> {
    if (hangsMs > 0) {
      await this.#primary.pause()
      await new Promise((resolve) => setTimeout(resolve, hangsMs))
    }
    await this.#primary.stop('immediate')
    await this.#replica.query('select pg_promote()')
    const former = this.#primary
    this.#primary = this.#replica
    await former.close()
    this.#replica = await this.#primary.openReplica(former.port)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#replica.close()
    await this.#primary.close()
  }
}
