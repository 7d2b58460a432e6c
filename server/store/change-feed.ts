// Tells when what the store holds has changed, by this process or by another one (the command line beside a running server).

import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'

/**
 * - `records`: accounts, cameras, recordings or tokens, by this process
 * - `status`: what cameras and recordings report of themselves, by this process; nothing to act on
 * - `foreign`: another process committed; what, is not known
 */
export type StoreChange = 'records' | 'status' | 'foreign'

export type ChangeListener = (change: StoreChange) => void

/** Who changes something says so here, after the commit. */
export type ChangePublisher = { publish(change: StoreChange): void }

export class ChangeFeed implements ChangePublisher {
  readonly #listeners = new Set<ChangeListener>()
  #version = 1

  /** Grows with every change. What was read at one version may be answered from memory while it lasts. */
  get version(): number {
    return this.#version
  }

  /** Called after the commit, synchronously; must not throw. Returns the function that ends it. */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  publish(change: StoreChange): void {
    this.#version++
    for (const listener of this.#listeners) listener(change)
  }
}

export type ForeignWatchOptions = {
  readonly feed: ChangeFeed
  /** A number that differs after another connection has committed (SQLite: `pragma data_version`). */
  readonly readForeignVersion: () => Promise<number>
  readonly intervalMs: number
  readonly clock: Clock
  readonly log: Logger
}

/** Looks every `intervalMs` for commits of others; ends when `signal` aborts. */
export async function watchForeignCommits(options: ForeignWatchOptions, signal: AbortSignal): Promise<void> {
  const { feed, readForeignVersion, intervalMs, clock, log } = options
  let seen = await readForeignVersion()
  while (!signal.aborted) {
    await clock.sleep(intervalMs, signal).catch(() => {})
    if (signal.aborted) return
    try {
      const version = await readForeignVersion()
      if (version !== seen) feed.publish('foreign')
      seen = version
    } catch (error) {
      log.warn({ reason: errorChain(error) }, 'changes of other processes cannot be read')
    }
  }
}
