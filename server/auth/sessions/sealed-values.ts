// What a browser carries for the server: sealed, so that it can neither be read nor changed, nor used by another browser, for another
// purpose or too late. Nothing is kept here that strangers could fill, or push out for others.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Clock } from '../../base/clock.ts'

export type SealedValuesOptions = {
  /** 32 bytes, for this purpose alone. */
  readonly key: Uint8Array
  readonly clock: Pick<Clock, 'nowMs'>
  readonly lifetimeMs: number
  /** Of what is sealed, as text. */
  readonly maxLength: number
}

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** `T` is plain JSON. */
export class SealedValues<T extends object> {
  readonly #options: SealedValuesOptions

  constructor(options: SealedValuesOptions) {
    this.#options = options
  }

  /** For the browser whose `owner` it is alone, as base64url. Undefined when it is too long to be carried. */
  seal(owner: string, value: T): string | undefined {
    const { key, clock, lifetimeMs, maxLength } = this.#options
    const text = JSON.stringify({ ...value, untilMs: clock.nowMs() + lifetimeMs })
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
    cipher.setAAD(Buffer.from(owner))
    const head = cipher.update(deflateRawSync(text))
    const sealed = Buffer.concat([nonce, head, cipher.final(), cipher.getAuthTag()]).toString('base64url')
    return sealed.length <= maxLength ? sealed : undefined
  }

  /** Undefined for what was not sealed here, is another browser's, or was too long ago. Never throws. */
  open(owner: string, sealed: string): T | undefined {
    const { key, clock, maxLength } = this.#options
    const bytes = Buffer.from(sealed, 'base64url')
    const end = bytes.length - tagBytes
    if (sealed.length > maxLength || end < nonceBytes) return undefined
    // The decoder ignores stray characters at the end. There is only one valid spelling.
    if (bytes.toString('base64url') !== sealed) return undefined
    const nonce = bytes.subarray(0, nonceBytes)
    const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(owner))
    decipher.setAuthTag(bytes.subarray(end))
    try {
      const text = Buffer.concat([decipher.update(bytes.subarray(nonceBytes, end)), decipher.final()])
      const { untilMs, ...value } = JSON.parse(inflateRawSync(text).toString()) as T & { untilMs: number }
      return clock.nowMs() < untilMs ? (value as unknown as T) : undefined
    } catch {
      return undefined
    }
  }
}
