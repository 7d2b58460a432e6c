// Decides how long to wait before the next connection to a camera. The pause depends on the last connection: a camera
// that delivered frames is reconnected at once, however short its sessions are, and one that did not is tried less and
// less often.

import type { GapReason } from '../../../contract/gap-reasons.ts'
import { Backoff } from '../../base/retry.ts'

/** A camera that delivered frames for this long is reconnected at once. */
export const usefulMs = 1000

/** After frames for this long, earlier refusals of the password and internal failures no longer count. */
const healthyMs = 60_000

/** A camera that is back after hours should be recorded soon, and an attempt costs little. */
const longestMs = 15_000

export type EndedConnection = {
  /** Why the connection was lost or could not be opened; undefined if the camera was no longer needed. */
  readonly reason: GapReason | undefined
  /** The time from the first frame to the end; 0 without frames. */
  readonly onlineMs: number
  /** Whether the server's own code failed. It may fail again at the same frame. */
  readonly isFault?: boolean
}

export type ReconnectPause = {
  readonly delayMs: number
  /** Whether the camera refused the password again and may lock the account. A new viewer does not end this pause. */
  readonly isLockedOut: boolean
}

export class ReconnectPauses {
  /** The pauses after connections without frames. */
  readonly #failed: Backoff
  /**
   * The pauses after connections that ended within a second of their first frame. Such connections cost both sides more
   * than they deliver.
   */
  readonly #brief: Backoff
  readonly #refused: Backoff
  #refusals = 0
  #isBrief = false

  /**
   * `random` returns uniform values in [0, 1). Half of each pause is random, so that cameras behind one switch do not
   * all reconnect at the same time.
   */
  constructor(random: () => number) {
    this.#failed = new Backoff({ minMs: 1000, maxMs: longestMs, random })
    this.#brief = new Backoff({ minMs: 1000, maxMs: 5000, random })
    this.#refused = new Backoff({ minMs: 120_000, maxMs: 1_800_000, random })
  }

  /** Must be called after each connection. */
  next({ reason, onlineMs, isFault = false }: EndedConnection): ReconnectPause {
    const wasBrief = this.#isBrief
    this.#isBrief = onlineMs > 0 && onlineMs < usefulMs
    if (onlineMs > 0) this.#refused.reset()
    if (onlineMs >= usefulMs || reason === undefined) this.#brief.reset()
    if (reason === 'auth_failed') return this.#afterRefusal(onlineMs)
    this.#refusals = 0
    if (onlineMs >= (isFault ? healthyMs : 1) || reason === undefined) this.#failed.reset()
    else return { delayMs: this.#failed.nextMs(), isLockedOut: false }
    // A single short session may be a coincidence.
    const delayMs = this.#isBrief && wasBrief ? this.#brief.nextMs() : 0
    return { delayMs, isLockedOut: false }
  }

  /** Cameras lock accounts and IP addresses after a few refusals, even of passwords that they accepted before. */
  #afterRefusal(onlineMs: number): ReconnectPause {
    if (onlineMs >= healthyMs) this.#failed.reset()
    this.#refusals = onlineMs > 0 ? 1 : this.#refusals + 1
    const isLockedOut = this.#refusals > 1
    return { delayMs: isLockedOut ? this.#refused.nextMs() : this.#failed.nextMs(), isLockedOut }
  }
}
