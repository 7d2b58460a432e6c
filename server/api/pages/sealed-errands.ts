// Where a browser wanted to go, while its user signs in: carried by the browser itself, sealed, so that it can neither be read nor
// changed nor used by another browser. Nothing is kept here that strangers could fill, or push out for others.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Clock } from '../../base/clock.ts'
import { isLocalPath } from '../../model/local-path.ts'

/** Where the browser goes after signing in. */
export type Errand = {
  readonly path: string
  /** The application it comes from, by name and by the address it leads back to in the end. */
  readonly appName?: string | undefined
  readonly leadsTo?: string | undefined
}

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
const lifetimeMs = 12 * 3_600_000
/** It is in an address and in a form, both of which end at 16 KiB. */
const maxLength = 8192

export class SealedErrands {
  readonly #key: Uint8Array
  readonly #clock: Pick<Clock, 'nowMs'>

  /** `key`: 32 bytes, for this purpose alone. */
  constructor(key: Uint8Array, clock: Pick<Clock, 'nowMs'>) {
    this.#key = key
    this.#clock = clock
  }

  /** For the browser whose `owner` it is alone. Undefined when it leads nowhere on this server, or is too long to be carried. */
  seal(owner: string, errand: Errand): string | undefined {
    if (!isLocalPath(errand.path)) return undefined
    const text = JSON.stringify({ ...errand, untilMs: this.#clock.nowMs() + lifetimeMs })
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, this.#key, nonce, { authTagLength: tagBytes })
    cipher.setAAD(Buffer.from(owner))
    const head = cipher.update(deflateRawSync(text))
    const sealed = Buffer.concat([nonce, head, cipher.final(), cipher.getAuthTag()]).toString('base64url')
    return sealed.length <= maxLength ? sealed : undefined
  }

  /** Undefined for what was not sealed here, is another browser's, or was too long ago. Never throws. */
  open(owner: string, sealed: string): Errand | undefined {
    const bytes = Buffer.from(sealed, 'base64url')
    const end = bytes.length - tagBytes
    if (sealed.length > maxLength || end < nonceBytes) return undefined
    const nonce = bytes.subarray(0, nonceBytes)
    const decipher = createDecipheriv(algorithm, this.#key, nonce, { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(owner))
    decipher.setAuthTag(bytes.subarray(end))
    try {
      const text = Buffer.concat([decipher.update(bytes.subarray(nonceBytes, end)), decipher.final()])
      const { untilMs, ...errand } = JSON.parse(inflateRawSync(text).toString()) as Errand & { untilMs: number }
      return this.#clock.nowMs() < untilMs ? errand : undefined
    } catch {
      return undefined
    }
  }
}
