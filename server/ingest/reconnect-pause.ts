// How long to wait before a camera is connected again. It depends on what the last connection gave: a camera that works is connected
// again at once, however short its sessions are; one that does not work is left in peace for longer and longer.

import type { GapReason } from '../../contract/gap-reasons.ts'
import { Backoff } from '../base/retry.ts'

/** Pictures for so long are worth the next connection at once. */
export const usefulMs = 1000

/** Pictures for so long forget that a password was refused, or that our code failed. */
const healthyMs = 60_000

export type EndedConnection = {
  /** Why it was lost or never was; undefined when nobody wanted it any more. */
  readonly reason: GapReason | undefined
  /** From its first picture to its end; 0 without any. */
  readonly onlineMs: number
  /** Our own code failed, and may at the same picture again. */
  readonly isFault?: boolean
}

export type ReconnectPause = {
  readonly delayMs: number
  /** The camera refused the password again and may lock the account: nobody's wish ends this pause. */
  readonly isLockedOut: boolean
}

export class ReconnectPauses {
  /** After connections without a picture. */
  readonly #failed: Backoff
  /** After connections that ended within a second of their first picture. A connection costs both sides more than it gives then. */
  readonly #brief: Backoff
  readonly #refused: Backoff
  #refusals = 0
  #isBrief = false

  /** `random`: uniform in [0, 1). Half of each pause is random, so that cameras behind one switch don't come back all at once. */
  constructor(random: () => number) {
    this.#failed = new Backoff({ minMs: 1000, maxMs: 60_000, random })
    this.#brief = new Backoff({ minMs: 1000, maxMs: 5000, random })
    this.#refused = new Backoff({ minMs: 120_000, maxMs: 1_800_000, random })
  }

  /** After each connection. */
  next({ reason, onlineMs, isFault = false }: EndedConnection): ReconnectPause {
    const wasBrief = this.#isBrief
    this.#isBrief = onlineMs > 0 && onlineMs < usefulMs
    if (onlineMs > 0) this.#refused.reset()
    if (onlineMs >= usefulMs || reason === undefined) this.#brief.reset()
    if (reason === 'auth_failed') return this.#afterRefusal(onlineMs)
    this.#refusals = 0
    if (onlineMs >= (isFault ? healthyMs : 1) || reason === undefined) this.#failed.reset()
    else return { delayMs: this.#failed.nextMs(), isLockedOut: false }
    // A single brief session is bad luck.
    const delayMs = this.#isBrief && wasBrief ? this.#brief.nextMs() : 0
    return { delayMs, isLockedOut: false }
  }

  /** Cameras lock accounts and addresses after some refusals, also of passwords that they took before. */
  #afterRefusal(onlineMs: number): ReconnectPause {
    if (onlineMs >= healthyMs) this.#failed.reset()
    this.#refusals = onlineMs > 0 ? 1 : this.#refusals + 1
    const isLockedOut = this.#refusals > 1
    return { delayMs: isLockedOut ? this.#refused.nextMs() : this.#failed.nextMs(), isLockedOut }
  }
}
