// Marks of browsers in which somebody has signed in: they may go on signing in while an account is attacked from all over the
// world. A mark proves nothing else; it is no session. (OWASP, device cookies)
//
// Layout: user id . expiry in Unix seconds . HMAC-SHA256 of both, base64url.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'

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
  create(userId: number): string {
    return this.#sign(`${userId}.${Math.floor(this.#clock.nowMs() / 1000) + knownDeviceTtlSeconds}`)
  }

  /** Whether this user signed in there before. Never throws, whatever `value` is. */
  isKnown(value: string | undefined, userId: number): boolean {
    const [, content, expiry] = /^(\d{1,15}\.(\d{1,12}))\.[\w-]{43}$/.exec(value ?? '') ?? []
    if (content === undefined || !content.startsWith(`${userId}.`)) return false
    if (!timingSafeEqual(Buffer.from(this.#sign(content)), Buffer.from(value!))) return false
    return Number(expiry) * 1000 > this.#clock.nowMs()
  }

  #sign(content: string): string {
    return `${content}.${createHmac('sha256', this.#key).update(content).digest('base64url')}`
  }
}
