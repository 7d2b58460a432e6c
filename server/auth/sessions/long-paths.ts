// Paths to return to that are too long for a cookie or a URL of a URL, because an application sent a long state. The server
// keeps them; the browser carries a short name.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'

/** Longer ones are kept. */
const maxCarried = 1500
const maxKept = 1000
const lifetimeMs = 12 * 3_600_000
const prefix = '/~kept/'

export class LongPaths {
  readonly #clock: Pick<Clock, 'nowMs'>
  /** By name, oldest first. */
  readonly #kept = new Map<string, { readonly path: string; readonly untilMs: number }>()

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock
  }

  /** Returns what the browser may carry, for `find`. It must be sealed. */
  shorten(path: string): string {
    if (path.length <= maxCarried) return path
    const nowMs = this.#clock.nowMs()
    for (const [name, { untilMs }] of this.#kept) {
      if (nowMs < untilMs && this.#kept.size < maxKept) break
      this.#kept.delete(name)
    }
    const name = `${prefix}${randomBytes(12).toString('base64url')}`
    this.#kept.set(name, { path, untilMs: nowMs + lifetimeMs })
    return name
  }

  /** Returns undefined for a path that is not kept any more. */
  find(short: string): string | undefined {
    return short.startsWith(prefix) ? this.#kept.get(short)?.path : short
  }
}
