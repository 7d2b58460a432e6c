// Paths to return to that are too long for a cookie or a URL of a URL, because an application sent a long state. They are
// kept, sealed, in the database, and the browser carries a short name.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { SealedBox } from '../../base/sealed-box.ts'
import type { KeptValues } from '../../store/server/kept-values.ts'

export type LongPathsOptions = {
  readonly rows: Pick<KeptValues, 'put' | 'find'>
  /** 32 bytes, used for nothing else. */
  readonly key: Uint8Array
  readonly clock: Pick<Clock, 'nowMs'>
}

/** Longer ones are kept. */
const maxCarried = 1500
const lifetimeMs = 12 * 3_600_000
const prefix = '/~kept/'

export class LongPaths {
  readonly #options: LongPathsOptions
  readonly #box: SealedBox
  /** What is being written. */
  readonly #writing = new Set<Promise<void>>()

  constructor(options: LongPathsOptions) {
    this.#options = options
    this.#box = new SealedBox(options.key)
  }

  /** Returns what the browser may carry, for `find`. It must be sealed, and sent after `written`. */
  shorten(path: string): string {
    if (path.length <= maxCarried) return path
    const { rows, clock } = this.#options
    const name = `${prefix}${randomBytes(12).toString('base64url')}`
    const writing = rows.put(name, this.#box.seal(path, name), clock.nowMs() + lifetimeMs)
    this.#writing.add(writing)
    // Whoever waits for it gets the error.
    writing.catch(() => {}).finally(() => this.#writing.delete(writing))
    return name
  }

  /** Resolves when everything that was shortened can be found. Throws like the store. */
  async written(): Promise<void> {
    if (this.#writing.size > 0) await Promise.all(this.#writing)
  }

  /** Returns undefined for a path that is not kept any more. */
  async find(short: string): Promise<string | undefined> {
    if (!short.startsWith(prefix)) return short
    const { rows, clock } = this.#options
    const kept = await rows.find(short, clock.nowMs())
    return kept?.sealed ? this.#box.unseal(kept.sealed, short) : undefined
  }
}
