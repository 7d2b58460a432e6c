// A server's claim on a PostgreSQL database: an advisory lock, held by a dedicated connection that is named after the
// server, so that others can report who holds the database. A lost connection is replaced at once. If another server
// was faster, this one must stop.

import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Clock } from '../../base/clock.ts'
import { type AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { pause } from '../../base/pause.ts'
import { Backoff } from '../../base/retry.ts'
import { createClaimConflict, type DatabaseClaim } from '../engine/claim.ts'
import { untilLost } from './lost-connection.ts'
import { createPostgresConfig } from './postgres-database.ts'
import { createUnavailable } from './postgres-failure.ts'
import { PostgresPrimary } from './postgres-primary.ts'
import { PostgresSockets } from './postgres-sockets.ts'
import { describePostgresUrl } from './postgres-url.ts'

export type PostgresClaimOptions = {
  readonly url: string
  /** Text that says where the server runs and where its data is. */
  readonly holder: string
  /** See `ClaimOptions`. */
  readonly isShared: boolean
  readonly clock: Clock
  readonly log: Logger
}

/** First half of the lock's key, as in address-lock.ts; there is one per database. */
const servers = 8
/** A server that is stopping releases its claim within this time. */
const patienceMs = 5000
const retryMs = 200
const probeIntervalMs = 5000
/** The part of a name that PostgreSQL keeps. */
const maxNameLength = 63

/** Throws 'conflict' with the name of the server that holds the database, and 'unavailable'. */
export async function claimPostgres(options: PostgresClaimOptions): Promise<DatabaseClaim> {
  const { url, holder, isShared, clock } = options
  const place = describePostgresUrl(url)
  const primary = new PostgresPrimary(url)
  const name = writeName(holder)
  const deadlineMs = clock.monotonicMs() + patienceMs
  for (;;) {
    const found = await connect(primary, name, isShared).catch((error) => {
      throw createUnavailable(error, place)
    })
    if (found?.kind === 'ours') return keep(found, { ...options, primary, place, name })
    if (clock.monotonicMs() >= deadlineMs) throw createClaimConflict(place, found?.other)
    await clock.sleep(retryMs)
  }
}

/** A connection that holds the lock; `ended` resolves with the reason when it is lost. */
type Holding = {
  readonly kind: 'ours'
  readonly ended: Promise<string>
  close(): Promise<void>
  check(): Promise<unknown>
}

/** Describes the other server that holds it. */
type Taken = { readonly kind: 'taken'; readonly other: string }

type KeepOptions = PostgresClaimOptions & {
  readonly primary: PostgresPrimary
  readonly place: string
  readonly name: string
}

function keep(first: Holding, options: KeepOptions): DatabaseClaim {
  const closing = new AbortController()
  const lost = Promise.withResolvers<AppError>()
  const keeping = holdOn(first, options, closing.signal).then((error) => error && lost.resolve(error))
  return {
    lost: lost.promise,
    async [Symbol.asyncDispose]() {
      closing.abort()
      await keeping
    },
  }
}

/** Resolves when `signal` aborts, or with the reason why another server holds the database now. */
async function holdOn(first: Holding, options: KeepOptions, signal: AbortSignal): Promise<AppError | undefined> {
  const { primary, clock, log, place, name, isShared } = options
  const backoff = new Backoff({ minMs: 50, maxMs: 2000 })
  let holding: Holding | undefined = first
  while (!signal.aborted) {
    if (holding) {
      const { ended, check } = holding
      const reason = await untilLost({ ended, check, intervalMs: probeIntervalMs, clock, signal })
      await holding.close()
      if (signal.aborted) return undefined
      log.warn({ database: place, reason }, 'the lock on the database was lost and is taken again')
    }
    const found: Holding | Taken | undefined = await connect(primary, name, isShared).catch(() => undefined)
    if (found?.kind === 'taken') return createClaimConflict(place, found.other)
    holding = found
    if (holding) backoff.reset()
    else await pause(clock, backoff.nextMs(), signal)
  }
  await holding?.close()
  return undefined
}

/** Undefined if nobody holds the lock: it was released just now, or a former connection of this server held it. */
async function connect(
  primary: PostgresPrimary,
  name: string,
  isShared: boolean,
): Promise<Holding | Taken | undefined> {
  const sockets = new PostgresSockets()
  const ended = Promise.withResolvers<string>()
  const url = await primary.find()
  const config = {
    ...createPostgresConfig(),
    connectionString: url,
    application_name: name,
    query_timeout: probeIntervalMs,
  }
  const client = new pg.Client({ ...config, stream: sockets.create })
  client.on('error', (error) => ended.resolve(errorChain(error)))
  client.on('end', () => ended.resolve('the connection was closed'))
  const close = () => sockets.end(client.end())
  try {
    await client.connect()
    // The database server notices within a minute that our machine is gone, and releases the lock.
    await client.query('set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3')
    const lock = isShared ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock'
    const tries = await client.query<{ is_ours: boolean }>(`select ${lock}($1, 0) as is_ours`, [servers])
    if (tries.rows[0]!.is_ours)
      return { kind: 'ours', ended: ended.promise, close, check: () => client.query('select 1') }
    const found = await findHolder(client)
    const isOurs = found?.name === name
    // A former connection of this server, whose end only this server has noticed.
    if (isOurs) await client.query('select pg_terminate_backend($1)', [found.pid])
    await close()
    return found && !isOurs ? { kind: 'taken', other: describe(found) } : undefined
  } catch (error) {
    primary.doubt(url)
    await close()
    throw error
  }
}

type Holder = { readonly pid: number; readonly name: string | null; readonly address: string | null }

async function findHolder(client: pg.Client): Promise<Holder | undefined> {
  const { rows } = await client.query<Holder>(
    `select pid, application_name as name, host(client_addr) as address
     from pg_locks join pg_stat_activity using (pid)
     where locktype = 'advisory' and classid = $1 and objid = 0 and objsubid = 2 and granted
       and database = (select oid from pg_database where datname = current_database())`,
    [servers],
  )
  return rows[0]
}

function describe({ name, address }: Holder): string {
  const words = /^nightjar [0-9a-f]{8} (.+)$/s.exec(name ?? '')?.[1] ?? 'which does not tell its name'
  return address === null ? words : `${words}, connected from ${address}`
}

/** Unique, and what others may know about this server. The end of a path says more than its beginning. */
function writeName(holder: string): string {
  const head = `nightjar ${randomBytes(4).toString('hex')} `
  const words = holder.replaceAll(/[^\x20-\x7e]/g, '?')
  const room = maxNameLength - head.length
  if (words.length <= room) return head + words
  const [host = '', rest = ''] = words.split(/, (.*)/s)
  const short = host.slice(0, 24)
  return `${head}${short}, ~${rest.slice(-(room - short.length - 3))}`
}
