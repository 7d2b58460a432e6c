// Creates the layouts of downloads, and keeps the most recent ones, because clients that read in ranges request the same one
// repeatedly. A layout has some MB for hours of footage, so what is held in memory is bounded, while accounts take turns.

import { AppError } from '../base/error.ts'
import { FairSemaphore } from '../base/fair-semaphore.ts'
import type { DownloadLayout } from './download-layout.ts'

const maxLayouts = 4
/** As many as an account can have files of recordings open. */
const maxWaitingOfOne = 500
/** Measured memory of a part. */
const partBytes = 100

const refusal = 'too many downloads were started at once'

export class DownloadLayoutCache {
  /** Least recently used first. */
  readonly #layouts = new Map<string, Promise<DownloadLayout>>()
  readonly #creating = new FairSemaphore<number>({ maxRunning: 2, maxRunningOfOne: 2, maxWaitingOfOne, refusal })
  /** How many responses send from a layout. */
  readonly #sent = new Map<DownloadLayout, number>()
  readonly #sentBytes = new Map<number, number>()
  readonly #maxBytes: number

  /** `maxBytes`: of the layouts that responses send from. An account gets a quarter. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** After a failure, the next request tries again. Throws 'unavailable' when too many requests of the user are waiting. */
  load(key: string, userId: number, create: () => Promise<DownloadLayout>): Promise<DownloadLayout> {
    const layout = this.#layouts.get(key) ?? this.#creating.run(userId, create)
    this.#layouts.delete(key)
    this.#layouts.set(key, layout)
    layout.catch(() => {
      if (this.#layouts.get(key) === layout) this.#layouts.delete(key)
    })
    for (const oldest of this.#layouts.keys()) {
      if (this.#layouts.size <= maxLayouts) break
      this.#layouts.delete(oldest)
    }
    return layout
  }

  /** Counts the memory of a layout until the result is disposed of. Throws 'unavailable' when there is too much already. */
  hold(userId: number, layout: DownloadLayout): Disposable {
    const count = this.#sent.get(layout) ?? 0
    if (count === 0) this.#charge(userId, layout.head.length + layout.parts.length * partBytes)
    this.#sent.set(layout, count + 1)
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return
        isHeld = false
        const left = this.#sent.get(layout)! - 1
        if (left > 0) this.#sent.set(layout, left)
        else {
          this.#sent.delete(layout)
          this.#charge(userId, -(layout.head.length + layout.parts.length * partBytes))
        }
      },
    }
  }

  #charge(userId: number, bytes: number): void {
    let total = 0
    for (const each of this.#sentBytes.values()) total += each
    const own = (this.#sentBytes.get(userId) ?? 0) + bytes
    // The first one of an account is always sent.
    const isFirst = own === bytes
    const isTooMuch = own > this.#maxBytes / 4 || total + bytes > this.#maxBytes
    if (bytes > 0 && !isFirst && isTooMuch) throw new AppError('unavailable', refusal)
    if (own > 0) this.#sentBytes.set(userId, own)
    else this.#sentBytes.delete(userId)
  }
}
