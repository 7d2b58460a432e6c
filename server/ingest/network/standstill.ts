// Detects that a thread stood still because its process was stopped or the thread was blocked. Data that it reads
// afterwards arrived earlier than it seems.

const tickMs = 100
/** A thread that is only busy is delayed by less than this. */
const longestMs = 300

export class Standstill implements Disposable {
  readonly #nowMs: () => number
  readonly #timer: NodeJS.Timeout
  #tickedMs: number
  #beganMs = Number.NEGATIVE_INFINITY
  #endedMs = Number.NEGATIVE_INFINITY

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
    this.#tickedMs = nowMs()
    this.#timer = setInterval(() => this.sinceMs(), tickMs).unref()
  }

  /**
   * Milliseconds since the last standstill ended; infinity if there was none. Also correct before any timer has run
   * again.
   */
  sinceMs(): number {
    const nowMs = this.#nowMs()
    // After a standstill, waiting data may be delivered before the timer runs.
    if (nowMs - this.#tickedMs > tickMs + longestMs) {
      this.#beganMs = this.#tickedMs
      this.#endedMs = nowMs
    }
    this.#tickedMs = nowMs
    return nowMs - this.#endedMs
  }

  /** Milliseconds since the last standstill began; infinity if there was none. */
  sinceBeganMs(): number {
    this.sinceMs()
    return this.#nowMs() - this.#beganMs
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
