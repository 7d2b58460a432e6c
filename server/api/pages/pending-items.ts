// Items that wait for a user's next step, such as a consent question. The browser carries them, sealed, so that any server
// can continue, also after a restart, and strangers fill no memory. Only those that were completed are remembered.

import { SealedValues } from '../../auth/sessions/sealed-values.ts'
import type { Clock } from '../../base/clock.ts'
import type { UsedValues } from '../../store/accounts/used-values.ts'

export type PendingItemsOptions = {
  /** 32 bytes. */
  readonly key: Uint8Array
  /** Items of one kind cannot be used as another one's. */
  readonly kind: string
  readonly lifetimeMs: number
  readonly clock: Pick<Clock, 'nowMs'>
  readonly used: Pick<UsedValues, 'isUsed' | 'use'>
}

/** A form has at most 16 KiB. The longest item is a consent request with a state of 8 KiB. */
const maxLength = 15 * 1024

/** `T` must be plain JSON. */
export class PendingItems<T extends object> {
  readonly #options: PendingItemsOptions
  readonly #sealed: SealedValues<T>

  constructor(options: PendingItemsOptions) {
    const { key, clock, lifetimeMs } = options
    this.#options = options
    this.#sealed = new SealedValues({ key, clock, lifetimeMs, maxLength })
  }

  /** Returns the item for the browser. Only the same `owner` can open it. Undefined if it is too long. */
  put(owner: string, value: T): string | undefined {
    return this.#sealed.seal(this.#ownerOf(owner), value)
  }

  /** Undefined if the item belongs to another owner or has expired. It may have been completed. */
  open(owner: string, item: string): T | undefined {
    return this.#sealed.open(this.#ownerOf(owner), item)
  }

  /** The same, and undefined if it was completed. */
  async find(owner: string, item: string): Promise<T | undefined> {
    const value = this.open(owner, item)
    return value && !(await this.isCompleted(item)) ? value : undefined
  }

  isCompleted(item: string): Promise<boolean> {
    return this.#options.used.isUsed(item)
  }

  /** Completes the item. Of several calls, only one gets it. Throws like `UsedValues.use`. */
  async take(owner: string, item: string, userId: number): Promise<T | undefined> {
    const { clock, lifetimeMs, used } = this.#options
    const value = this.open(owner, item)
    const untilMs = clock.nowMs() + lifetimeMs
    return value && (await used.use({ value: item, untilMs, userId })) ? value : undefined
  }

  #ownerOf(owner: string): string {
    return `${this.#options.kind} ${owner}`
  }
}
