// How long to wait before a camera is connected again. It depends on what the last connection gave: a camera that works
// is connected again at once, however short its sessions are; one that does not work is tried less and less often.

import type { GapReason } from '../../../contract/gap-reasons.ts'
import { Backoff } from '../../base/retry.ts'

/** After pictures for this long, the camera is connected again at once. */
export const usefulMs = 1000

/** After pictures for this long, earlier refusals of the password and failures of our own code no longer count. */
const healthyMs = 60_000

export type EndedConnection = {
  /** Why it was lost or never was; undefined when nobody wanted it any more. */
  readonly reason: GapReason | undefined
  /** From its first picture to its end; 0 without any. */
  readonly onlineMs: number
  /** Our own code failed, and may fail again at the same picture. */
  readonly isFault?: boolean
}

export type ReconnectPause = {
  readonly delayMs: number
  /**
   * The camera refused the password again and may lock the account: the pause is not cut short when somebody wants to
   * watch.
   */
  readonly isLockedOut: boolean
}

export class ReconnectPauses {
  /** After connections without a picture. */
  readonly #failed: Backoff
  /**
   * After connections that ended within a second of their first picture. Such a connection costs both sides more than
   * it gives.
   */
  readonly #brief: Backoff
  readonly #refused: Backoff
  #refusals = 0
  #isBrief = false

  /**
   * `random`: uniform in [0, 1). Half of each pause is random, so that cameras behind one switch don't come back all at
   * once.
   */
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
    // A single brief session may be bad luck.
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
