// The challenges that authenticators sign (WebAuthn section 13.4.3). Everyone can request one on the sign-in page, so
// the server stores nothing until a challenge has been answered with a valid signature. A challenge itself states its
// expiry and owner.
//
// Layout: end in Unix milliseconds (6 bytes) | random (16) | first 16 bytes of HMAC-SHA256 of both, the purpose and the
// owner.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'

export const challengeLifetimeMs = 5 * 60_000
const endBytes = 6
const headBytes = endBytes + 16
const tagBytes = 16
const maxUsed = 10_000
const maxUsedOfUser = 100

/** What the challenge is for, and the browser or session that may use it. */
export type ChallengeUse = { readonly purpose: 'add' | 'second' | 'alone'; readonly owner: string }

type Used = { readonly userId: number; readonly forgottenAtMs: number }

export class Challenges {
  readonly #key: Uint8Array
  readonly #clock: Pick<Clock, 'nowMs'>
  /** In the order in which they were used, which is also the order in which they expire. */
  readonly #used = new Map<string, Used>()
  readonly #usedOfUser = new Map<number, number>()

  /** `key` has 32 bytes and is used for nothing else. */
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

  /**
   * True if the challenge was created for this use, has not expired and was not used. `challenge` is base64url. Never
   * throws.
   */
  isGood(challenge: string, use: ChallengeUse): boolean {
    const endMs = this.#readEnd(challenge, use)
    return endMs !== undefined && this.#clock.nowMs() < endMs && !this.#used.has(challenge)
  }

  /**
   * Marks the challenge as used after the user has been verified. Returns false if it is invalid or already used; of
   * two simultaneous calls, only one succeeds. Throws 'rate_limited' if this user has used too many, and 'unavailable'
   * if all users together have.
   */
  use(challenge: string, use: ChallengeUse, userId: number): boolean {
    if (!this.isGood(challenge, use)) return false
    this.#forgetOver()
    const ofUser = this.#usedOfUser.get(userId) ?? 0
    const retryAfterSeconds = challengeLifetimeMs / 1000
    if (ofUser >= maxUsedOfUser)
      throw new AppError('rate_limited', 'too many simultaneous sign-ins', { retryAfterSeconds })
    if (this.#used.size >= maxUsed)
      throw new AppError('unavailable', 'too many simultaneous sign-ins', { retryAfterSeconds })
    this.#usedOfUser.set(userId, ofUser + 1)
    this.#used.set(challenge, { userId, forgottenAtMs: this.#clock.nowMs() + challengeLifetimeMs })
    return true
  }

  /** The number of used challenges in memory. */
  get size(): number {
    return this.#used.size
  }

  #readEnd(challenge: string, use: ChallengeUse): number | undefined {
    const bytes = Buffer.from(challenge, 'base64url')
    // Accepts only one spelling, because another spelling of the same bytes would not be found among the used ones.
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
