// Notices that a thread stood still: that its process was stopped, or that something occupied it. What it reads next
// has waited for it, so it came earlier than it seems.

const tickMs = 100
/** A thread that is only busy is late by less. */
const longestMs = 300

export class Standstill implements Disposable {
  readonly #nowMs: () => number
  readonly #timer: NodeJS.Timeout
  #tickedMs: number
  #endedMs = Number.NEGATIVE_INFINITY

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
    this.#tickedMs = nowMs()
    this.#timer = setInterval(() => this.sinceMs(), tickMs).unref()
  }

  /**
   * Milliseconds since the last one ended; infinite when there was none. To be asked before any timer has run again,
   * too.
   */
  sinceMs(): number {
    const nowMs = this.#nowMs()
    // When it ends, what is there to be read may be handed out before the timer is.
    if (nowMs - this.#tickedMs > tickMs + longestMs) this.#endedMs = nowMs
    this.#tickedMs = nowMs
    return nowMs - this.#endedMs
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
