// Values that a browser carries for the server. They are sealed, so that they cannot be read, changed, used by another
// browser or for another purpose, or used after they expire. The server stores nothing, so strangers cannot exhaust its
// memory.

import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Clock } from '../../base/clock.ts'
import { SealedBox } from '../../base/sealed-box.ts'

export type SealedValuesOptions = {
  /** 32 bytes, used for nothing else. */
  readonly key: Uint8Array
  readonly clock: Pick<Clock, 'nowMs'>
  readonly lifetimeMs: number
  /** The maximum length of the sealed text. */
  readonly maxLength: number
}

/** `T` must be plain JSON. */
export class SealedValues<T extends object> {
  readonly #options: SealedValuesOptions
  readonly #box: SealedBox

  constructor(options: SealedValuesOptions) {
    this.#options = options
    this.#box = new SealedBox(options.key)
  }

  /** Returns base64url that is valid only for `owner`, or undefined if it is too long. */
  seal(owner: string, value: T): string | undefined {
    const { clock, lifetimeMs, maxLength } = this.#options
    const text = JSON.stringify({ ...value, untilMs: clock.nowMs() + lifetimeMs })
    const sealed = Buffer.from(this.#box.seal(deflateRawSync(text), owner)).toString('base64url')
    return sealed.length <= maxLength ? sealed : undefined
  }

  /**
   * Returns undefined if the value was not sealed here, for none of the owners, or has expired. Never throws.
   */
  open(owners: string | readonly string[], sealed: string): T | undefined {
    if (sealed.length > this.#options.maxLength) return undefined
    for (const owner of [owners].flat()) {
      const value = this.#open(owner, sealed)
      if (value !== undefined) return value
    }
    return undefined
  }

  #open(owner: string, sealed: string): T | undefined {
    const { clock } = this.#options
    const bytes = Buffer.from(sealed, 'base64url')
    // The decoder ignores extra characters at the end. Only one spelling is accepted.
    if (bytes.toString('base64url') !== sealed) return undefined
    try {
      const text = this.#box.unsealBytes(bytes, owner)
      const { untilMs, ...value } = JSON.parse(inflateRawSync(text).toString()) as T & { untilMs: number }
      return clock.nowMs() < untilMs ? (value as unknown as T) : undefined
    } catch {
      return undefined
    }
  }
}
