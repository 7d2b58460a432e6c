// Which of several PostgreSQL servers takes writes. One is the primary, the others replicate it; after a failure, one of
// them is promoted.

import pg from 'pg'
import { errorChain } from '../../base/error.ts'
import { SingleFlight } from '../../base/single-flight.ts'
import { createUnavailable } from './postgres-failure.ts'
import { PostgresSockets } from './postgres-sockets.ts'
import { describePostgresUrl, listServers } from './postgres-url.ts'

/** A server in the same network that does not answer in this time is down. */
const patienceMs = 1500

export class PostgresPrimary {
  readonly #place: string
  readonly #urls: readonly string[]
  readonly #searching = new SingleFlight<string>()
  readonly #doubting = new SingleFlight<void>()
  readonly #listeners = new Set<() => void>()
  readonly #replaced = new Set<() => void>()
  #known: string | undefined
  /** The one before, while another is looked for. */
  #former: string | undefined

  constructor(url: string) {
    this.#place = describePostgresUrl(url)
    this.#urls = listServers(url)
    // The only one needs no search, and says itself what is wrong.
    if (this.#urls.length === 1) this.#known = this.#urls[0]
  }

  /** Its URL. Throws 'unavailable' if none takes writes. */
  async find(): Promise<string> {
    return this.#known ?? this.#searching.run(() => this.#search())
  }

  /** Whether there are others to look for. */
  get isOneOfSeveral(): boolean {
    return this.#urls.length > 1
  }

  /** To be called when this server takes no writes. Whoever uses it must let go of it. */
  lose(url: string): void {
    if (!this.isOneOfSeveral || this.#known !== url) return
    this.#former = url
    this.#known = undefined
    for (const listener of this.#listeners) listener()
  }

  /** To be called when this server did not answer: perhaps only a connection was lost, or there are too many. */
  doubt(url: string): void {
    if (!this.isOneOfSeveral || this.#known !== url) return
    // Whoever joins may doubt another server by now.
    void this.#doubting.run(async () => void (await checkWritable(url).catch(() => this.lose(url))))
  }

  onLost(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Called when another server takes the writes. What the former one wrote last may be lost. */
  onReplaced(listener: () => void): void {
    this.#replaced.add(listener)
  }

  async #search(): Promise<string> {
    try {
      this.#known = await Promise.any(this.#urls.map((url) => checkWritable(url)))
      if (this.#former !== undefined && this.#former !== this.#known) for (const listener of this.#replaced) listener()
      return this.#known
    } catch (error) {
      const reasons = (error as AggregateError).errors.map(
        (each, i) => `${hostOf(this.#urls[i]!)}: ${errorChain(each)}`,
      )
      throw createUnavailable(new Error(reasons.join(', ')), this.#place)
    }
  }
}

async function checkWritable(url: string): Promise<string> {
  const sockets = new PostgresSockets()
  const client = new pg.Client({
    ...{ connectionString: url, connectionTimeoutMillis: patienceMs, query_timeout: patienceMs },
    stream: sockets.create,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only')
    if (rows[0]!.transaction_read_only !== 'off') throw new Error('takes no writes')
    return url
  } finally {
    void sockets.end(client.end().catch(() => {}))
  }
}

const hostOf = (url: string) => new URL(url).host
