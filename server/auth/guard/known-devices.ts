// Marks of browsers in which somebody has signed in: they may go on signing in while an account is attacked from all over the
// world. A mark proves nothing else; it is no session. A change of what signs in to the account ends its marks, since whoever knew the
// old password may have one. (OWASP, device cookies)
//
// Layout: user id . version of the account's credentials . expiry in Unix seconds . HMAC-SHA256 of all three, base64url.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { ProvenUser } from '../../store/accounts/proven-user.ts'

export const knownDeviceTtlSeconds = 365 * 86_400

export class KnownDevices {
  readonly #key: Uint8Array
  readonly #clock: Pick<Clock, 'nowMs'>

  /** `key`: 32 bytes, for this purpose alone. */
  constructor(key: Uint8Array, clock: Pick<Clock, 'nowMs'>) {
    this.#key = key
    this.#clock = clock
  }

  /** The value of a cookie to set after a log-in. */
  create({ id, credentialsVersion }: ProvenUser): string {
    return this.#sign(`${id}.${credentialsVersion}.${Math.floor(this.#clock.nowMs() / 1000) + knownDeviceTtlSeconds}`)
  }

  /** Whether this user signed in there before. Never throws, whatever `value` is. */
  isKnown(value: string | undefined, { id, credentialsVersion }: ProvenUser): boolean {
    const [, content, expiry] = /^(\d{1,15}\.\d{1,15}\.(\d{1,12}))\.[\w-]{43}$/.exec(value ?? '') ?? []
    if (content === undefined || !content.startsWith(`${id}.${credentialsVersion}.`)) return false
    if (!timingSafeEqual(Buffer.from(this.#sign(content)), Buffer.from(value!))) return false
    return Number(expiry) * 1000 > this.#clock.nowMs()
  }

  #sign(content: string): string {
    return `${content}.${createHmac('sha256', this.#key).update(content).digest('base64url')}`
  }
}
