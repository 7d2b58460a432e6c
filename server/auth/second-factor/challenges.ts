// What an authenticator is given to sign (WebAuthn section 13.4.3). Strangers are given them too, on the page to sign in, so nothing is
// kept until one was answered with a good signature: a challenge itself says until when it is good, and for whom.
//
// Layout: end in Unix milliseconds (6 bytes) | random (16) | first 16 bytes of HMAC-SHA256 of both, the purpose and the owner.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'

export const challengeLifetimeMs = 5 * 60_000
const endBytes = 6
const headBytes = endBytes + 16
const tagBytes = 16
const maxUsed = 10_000
const maxUsedOfUser = 100

/** What is asked for with it, and by whom: a browser or session. Good for nothing and nobody else. */
export type ChallengeUse = { readonly purpose: 'add' | 'second' | 'alone'; readonly owner: string }

type Used = { readonly userId: number; readonly forgottenAtMs: number }

export class Challenges {
  readonly #key: Uint8Array
  readonly #clock: Pick<Clock, 'nowMs'>
  /** In the order of their use, in which they may be forgotten too. */
  readonly #used = new Map<string, Used>()
  readonly #usedOfUser = new Map<number, number>()

  /** `key`: 32 bytes, for this purpose alone. */
  constructor(key: Uint8Array, clock: Pick<Clock, 'nowMs'>) {
    this.#key = key
    this.#clock = clock
  }

  create(use: ChallengeUse): Uint8Array<ArrayBuffer> {
    const head = Buffer.alloc(headBytes)
    head.writeUIntBE(this.#clock.nowMs() + challengeLifetimeMs, 0, endBytes)
    randomBytes(headBytes - endBytes).copy(head, endBytes)
    return new Uint8Array(Buffer.concat([head, this.#sign(head, use)]))
  }

  /** Whether it was made for this use, a short time ago, and not used since. `challenge`: base64url. Never throws. */
  isGood(challenge: string, use: ChallengeUse): boolean {
    const endMs = this.#readEnd(challenge, use)
    return endMs !== undefined && this.#clock.nowMs() < endMs && !this.#used.has(challenge)
  }

  /**
   * Uses it up, once what came with it has proved to be this user's. False when it is not good, or not any more: of two at once, one is
   * first. Throws 'rate_limited' when this user has used very many, and 'unavailable' when all have.
   */
  use(challenge: string, use: ChallengeUse, userId: number): boolean {
    if (!this.isGood(challenge, use)) return false
    this.#forgetOver()
    const ofUser = this.#usedOfUser.get(userId) ?? 0
    const retryAfterSeconds = challengeLifetimeMs / 1000
    if (ofUser >= maxUsedOfUser) throw new AppError('rate_limited', 'too many sign-ins at once', { retryAfterSeconds })
    if (this.#used.size >= maxUsed)
      throw new AppError('unavailable', 'too many sign-ins at once', { retryAfterSeconds })
    this.#usedOfUser.set(userId, ofUser + 1)
    this.#used.set(challenge, { userId, forgottenAtMs: this.#clock.nowMs() + challengeLifetimeMs })
    return true
  }

  /** How many are remembered as used. */
  get size(): number {
    return this.#used.size
  }

  #readEnd(challenge: string, use: ChallengeUse): number | undefined {
    const bytes = Buffer.from(challenge, 'base64url')
    // One spelling: another of the same bytes would not be found among the used ones.
    if (bytes.length !== headBytes + tagBytes || bytes.toString('base64url') !== challenge) return undefined
    const head = bytes.subarray(0, headBytes)
    if (!timingSafeEqual(this.#sign(head, use), bytes.subarray(headBytes))) return undefined
    return head.readUIntBE(0, endBytes)
  }

  #sign(head: Uint8Array, { purpose, owner }: ChallengeUse): Buffer {
    const hmac = createHmac('sha256', this.#key).update(head).update(`${purpose} ${owner}`)
    return hmac.digest().subarray(0, tagBytes)
  }

  #forgetOver(): void {
    const nowMs = this.#clock.nowMs()
    for (const [challenge, { userId, forgottenAtMs }] of this.#used) {
      if (forgottenAtMs > nowMs) break
      this.#used.delete(challenge)
      const left = this.#usedOfUser.get(userId)! - 1
      if (left > 0) this.#usedOfUser.set(userId, left)
      else this.#usedOfUser.delete(userId)
    }
  }
}
