// Notices commits of other processes in PostgreSQL: triggers on the tables (postgres-triggers.ts) notify with each
// commit, and a dedicated connection listens.

import pg from 'pg'
import { errorChain } from '../../base/error.ts'
import { pause } from '../../base/pause.ts'
import { Backoff } from '../../base/retry.ts'
import type { StoreChange } from '../engine/change-feed.ts'
import type { Watch, WatchOptions } from '../engine/database.ts'
import { probeIntervalMs, untilLost } from './lost-connection.ts'
import { createUnavailable } from './postgres-failure.ts'
import { PostgresSockets } from './postgres-sockets.ts'
import { changeChannel, readChange } from './postgres-triggers.ts'

export type PostgresWatchOptions = Omit<WatchOptions, 'intervalMs'> & {
  /** `application_name` distinguishes this process's own notifications from others. */
  readonly config: pg.ClientConfig & { readonly application_name: string }
  /** The URL without its password. */
  readonly place: string
}

/** Equal changes of many successive commits are reported as one. */
const gatherMs = 20
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

/**
 * Without a connection, changes may be missed, so both its loss and its restoration count as changes.
 */
async function watch(options: PostgresWatchOptions, first: Listener, signal: AbortSignal): Promise<void> {
  const { feed, clock, log, place } = options
  const backoff = new Backoff({ minMs: 100, maxMs: 2000 })
  let listener: Listener | undefined = first
  while (!signal.aborted) {
    if (listener) {
      const reason = await listener.ended
      if (signal.aborted) return
      log.warn({ database: place, reason }, 'changes by other processes are not received')
      feed.publish('foreign')
    }
    await pause(clock, backoff.nextMs(), signal)
    listener = await listen(options, signal).catch(() => undefined)
    if (!listener || signal.aborted) continue
    log.info({ database: place }, 'changes by other processes are received again')
    backoff.reset()
    feed.publish('foreign')
  }
  await listener?.ended
}

/** A listening connection; `ended` resolves with the reason when it has stopped listening. */
type Listener = { readonly ended: Promise<string> }

async function listen({ feed, clock, config }: PostgresWatchOptions, signal: AbortSignal): Promise<Listener> {
  const sockets = new PostgresSockets()
  const client = new pg.Client({ ...config, query_timeout: probeIntervalMs, stream: sockets.create })
  const lost = Promise.withResolvers<string>()
  client.on('error', (error) => lost.resolve(errorChain(error)))
  client.on('end', () => lost.resolve('the connection was closed'))
  const gathered = new Map<string, StoreChange>()
  const publish = () => {
    const changes: StoreChange[] = gathered.size > maxGathered ? ['foreign'] : [...gathered.values()]
    gathered.clear()
    if (!signal.aborted) for (const change of changes) feed.publish(change)
  }
  client.on('notification', ({ payload }) => {
    const { writer, change } = readChange(payload)
    if (writer === config.application_name) return
    if (gathered.size === 0) setTimeout(publish, gatherMs)
    gathered.set(JSON.stringify(change), change)
  })
  try {
    await client.connect()
    await client.query(`listen ${changeChannel}`)
  } catch (error) {
    await sockets.end(client.end())
    throw error
  }
  const check = () => client.query('select 1')
  const ended = untilLost({ ended: lost.promise, check, clock, signal }).then(async (reason) => {
    await sockets.end(client.end())
    return reason
  })
  return { ended }
}
