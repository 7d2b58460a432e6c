// The challenges that authenticators sign (WebAuthn section 13.4.3). Everyone can request one on the sign-in page, so
// the server stores nothing until a challenge has been answered with a valid signature. A challenge itself states its
// expiry and owner.
//
// Layout: end in Unix milliseconds (6 bytes) | random (16) | first 16 bytes of HMAC-SHA256 of both, the purpose and the
// owner.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { UsedValues } from '../../store/accounts/used-values.ts'

export const challengeLifetimeMs = 5 * 60_000
const endBytes = 6
const headBytes = endBytes + 16
const tagBytes = 16

/** What the challenge is for, and the browser or session that may use it. */
export type ChallengeUse = { readonly purpose: 'add' | 'second' | 'alone'; readonly owner: string }

export class Challenges {
  readonly #key: Uint8Array
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #used: Pick<UsedValues, 'isUsed' | 'use'>

  /** `key` has 32 bytes and is used for nothing else. */
  constructor(key: Uint8Array, clock: Pick<Clock, 'nowMs'>, used: Pick<UsedValues, 'isUsed' | 'use'>) {
    this.#key = key
    this.#clock = clock
    this.#used = used
  }

  create(use: ChallengeUse): Uint8Array<ArrayBuffer> {
    const head = Buffer.alloc(headBytes)
    head.writeUIntBE(this.#clock.nowMs() + challengeLifetimeMs, 0, endBytes)
    randomBytes(headBytes - endBytes).copy(head, endBytes)
    return new Uint8Array(Buffer.concat([head, this.#sign(head, use)]))
  }

  /** True if the challenge was created for this use, has not expired and was not used. `challenge` is base64url. */
  async isGood(challenge: string, use: ChallengeUse): Promise<boolean> {
    return this.#findEnd(challenge, use) !== undefined && !(await this.#used.isUsed(challenge))
  }

  /**
   * Marks the challenge as used after the user has been verified. Returns false if it is invalid or already used. Throws
   * like `UsedValues.use`.
   */
  async use(challenge: string, use: ChallengeUse, userId: number): Promise<boolean> {
    const untilMs = this.#findEnd(challenge, use)
    return untilMs !== undefined && (await this.#used.use({ value: challenge, untilMs, userId }))
  }

  /** Undefined if the challenge is not valid any more. */
  #findEnd(challenge: string, use: ChallengeUse): number | undefined {
    const endMs = this.#readEnd(challenge, use)
    return endMs !== undefined && this.#clock.nowMs() < endMs ? endMs : undefined
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
}
