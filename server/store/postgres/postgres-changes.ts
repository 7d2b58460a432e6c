// Notices commits of other processes in PostgreSQL: triggers on the tables (postgres-triggers.ts) notify with each
// commit, and a dedicated connection listens.

import pg from 'pg'
import { errorChain } from '../../base/error.ts'
import { pause } from '../../base/pause.ts'
import { repeat } from '../../base/repeat.ts'
import { Backoff } from '../../base/retry.ts'
import type { StoreChange } from '../engine/change-feed.ts'
import type { Watch, WatchOptions } from '../engine/database.ts'
import { untilLost } from './lost-connection.ts'
import { createUnavailable } from './postgres-failure.ts'
import type { PostgresPrimary } from './postgres-primary.ts'
import { PostgresSockets } from './postgres-sockets.ts'
import { changeChannel, readChange } from './postgres-triggers.ts'

export type PostgresWatchOptions = Omit<WatchOptions, 'intervalMs'> & {
  /** `application_name` distinguishes this process's own notifications from others. */
  readonly config: pg.ClientConfig & { readonly application_name: string }
  readonly primary: PostgresPrimary
  /** The URL without its password. */
  readonly place: string
}

/** The first change is reported at once, and equal ones of the commits in the time that follows as one. */
const gatherMs = 20
/**
 * While it is not certain that changes are heard, nothing read is believed for longer than this. With the time until that
 * is noticed, twice as long, it is less than a second.
 */
const doubtMs = 300
/** More different ones are reported as one of which nothing is known. */
const maxGathered = 100

/** Throws 'unavailable' if it cannot listen at first; a connection that is lost later is restored. */
export async function openPostgresWatch(options: PostgresWatchOptions): Promise<Watch> {
  const closing = new AbortController()
  const first = await listen(options, closing.signal).catch((error) => {
    throw createUnavailable(error, options.place)
  })
  const watching = watch(options, first, closing.signal)
  return {
    async close() {
      closing.abort()
      await watching
    },
  }
}

/** Without a connection, changes may be missed. So its loss counts as one, each moment without it, and its restoration. */
async function watch(options: PostgresWatchOptions, first: Listener, signal: AbortSignal): Promise<void> {
  const { feed, clock, log, place } = options
  const backoff = new Backoff({ minMs: 100, maxMs: 2000 })
  let listener = first
  while (!signal.aborted) {
    const reason = await listener.ended
    if (signal.aborted) return
    log.warn({ database: place, reason }, 'changes by other processes are not received')
    feed.publish('foreign')
    const found = new AbortController()
    const doubt = () => feed.publish('records')
    const either = AbortSignal.any([signal, found.signal])
    const doubting = repeat(doubt, { clock, signal: either, intervalMs: doubtMs, isDelayed: true })
    let next: Listener | undefined
    while (!next && !signal.aborted) {
      await pause(clock, backoff.nextMs(), signal)
      next = await listen(options, signal).catch(() => undefined)
    }
    found.abort()
    await doubting
    if (!next) return
    listener = next
    if (signal.aborted) continue
    log.info({ database: place }, 'changes by other processes are received again')
    backoff.reset()
    feed.publish('foreign')
  }
  await listener.ended
}

/** A listening connection; `ended` resolves with the reason when it has stopped listening. */
type Listener = { readonly ended: Promise<string> }

async function listen({ feed, clock, config, primary }: PostgresWatchOptions, signal: AbortSignal): Promise<Listener> {
  const sockets = new PostgresSockets()
  const url = await primary.find()
  const patienceMs = primary.isOneOfSeveral ? 1500 : 5000
  const client = new pg.Client({ ...config, connectionString: url, query_timeout: patienceMs, stream: sockets.create })
  const lost = Promise.withResolvers<string>()
  client.on('error', (error) => lost.resolve(errorChain(error)))
  client.on('end', () => lost.resolve('the connection was closed'))
  /** Those of the last `gatherMs` that were not reported; undefined when there were none at all. */
  let gathered: Map<string, StoreChange> | undefined
  const publish = () => {
    if (!gathered || gathered.size === 0 || signal.aborted) {
      gathered = undefined
      return
    }
    const changes: StoreChange[] = gathered.size > maxGathered ? ['foreign'] : [...gathered.values()]
    gathered.clear()
    for (const change of changes) feed.publish(change)
    setTimeout(publish, gatherMs)
  }
  client.on('notification', ({ payload }) => {
    const { writer, change } = readChange(payload)
    if (writer === config.application_name) return
    const isFirst = gathered === undefined
    gathered ??= new Map()
    gathered.set(JSON.stringify(change), change)
    // What else came in the same packet belongs to the same commit.
    if (isFirst) setImmediate(publish)
  })
  try {
    await client.connect()
    await client.query(`listen ${changeChannel}`)
  } catch (error) {
    primary.doubt(url)
    await sockets.end(client.end())
    throw error
  }
  const check = async () => {
    const doubting = setInterval(() => feed.publish('records'), doubtMs)
    await client.query('select 1').finally(() => clearInterval(doubting))
  }
  const ended = untilLost({ ended: lost.promise, check, intervalMs: doubtMs, clock, signal }).then(async (reason) => {
    if (!signal.aborted) primary.doubt(url)
    await sockets.end(client.end())
    return reason
  })
  return { ended }
}
