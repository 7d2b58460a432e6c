// Marks browsers in which a user has signed in. They may keep signing in while the account is attacked from elsewhere
// (OWASP, device cookies). A mark proves nothing else and is not a session. It becomes invalid when the credentials of
// the account change, because an attacker who knew the old password may have one.
//
// Layout: user id . version of the account's credentials . expiry in Unix seconds . HMAC-SHA256 of all three,
// base64url.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { ProvenUser } from '../../store/accounts/proven-user.ts'

export const knownDeviceTtlSeconds = 365 * 86_400

export class KnownDevices {
  readonly #key: Uint8Array
  readonly #clock: Pick<Clock, 'nowMs'>

  /** `key` has 32 bytes and is used for nothing else. */
  constructor(key: Uint8Array, clock: Pick<Clock, 'nowMs'>) {
    this.#key = key
    this.#clock = clock
  }

  /** Returns the value of a cookie to set after a sign-in. */
  create({ id, credentialsVersion }: ProvenUser): string {
    return this.#sign(`${id}.${credentialsVersion}.${Math.floor(this.#clock.nowMs() / 1000) + knownDeviceTtlSeconds}`)
  }

  /** True if this user has signed in with the device before. Never throws. */
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
