// What a browser carries for the server: sealed, so that it can neither be read nor changed, nor used by another browser, for another
// purpose or too late. Nothing is kept here that strangers could fill, or push out for others.

import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Clock } from '../../base/clock.ts'
import { SealedBox } from '../../base/sealed-box.ts'

export type SealedValuesOptions = {
  /** 32 bytes, for this purpose alone. */
  readonly key: Uint8Array
  readonly clock: Pick<Clock, 'nowMs'>
  readonly lifetimeMs: number
  /** Of what is sealed, as text. */
  readonly maxLength: number
}

/** `T` is plain JSON. */
export class SealedValues<T extends object> {
  readonly #options: SealedValuesOptions
  readonly #box: SealedBox

  constructor(options: SealedValuesOptions) {
    this.#options = options
    this.#box = new SealedBox(options.key)
  }

  /** For the browser whose `owner` it is alone, as base64url. Undefined when it is too long to be carried. */
  seal(owner: string, value: T): string | undefined {
    const { clock, lifetimeMs, maxLength } = this.#options
    const text = JSON.stringify({ ...value, untilMs: clock.nowMs() + lifetimeMs })
    const sealed = Buffer.from(this.#box.seal(deflateRawSync(text), owner)).toString('base64url')
    return sealed.length <= maxLength ? sealed : undefined
  }

  /** Undefined for what was not sealed here, is another browser's, or was too long ago. Never throws. */
  open(owner: string, sealed: string): T | undefined {
    const { clock, maxLength } = this.#options
    if (sealed.length > maxLength) return undefined
    const bytes = Buffer.from(sealed, 'base64url')
    // The decoder ignores stray characters at the end. There is only one valid spelling.
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
