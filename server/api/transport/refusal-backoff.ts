// Delays the responses of a connection whose requests are refused repeatedly. A refusal costs the server as much as many
// other responses, and a program that ignores it sends its next request all the sooner. Other clients behind the same IP
// address use connections of their own and are not delayed.

/**
 * How many more refusals than successful responses are free: a page of cameras whose images are all gone is not an
 * attack. A successful response makes up for two refusals.
 */
const freeRefusals = 100
const manyRefusals = 150
const mostRefusals = 170
/** Forgotten each second. */
const forgottenPerSecond = 1

/** Delay between two requests of the connection. */
const pauseMs = 250
const longPauseMs = 1000

/** Requests that would have to wait longer are rejected. */
const maxWaitMs = 10_000

type State = { excess: number; atMs: number; nextMs: number }

export class RefusalBackoff {
  /** State of the connections whose requests were refused recently. */
  readonly #states = new WeakMap<object, State>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /**
   * Whether a request of the connection was refused recently. Other connections are not delayed, and their responses
   * need not be counted.
   */
  has(connection: object): boolean {
    return this.#states.has(connection)
  }

  /**
   * Returns the delay of the connection's next request and reserves that time. Undefined if the delay would be too
   * long and the request must be rejected.
   */
  takeMs(connection: object): number | undefined {
    const state = this.#states.get(connection)
    if (!state) return 0
    const nowMs = this.#nowMs()
    forget(state, nowMs)
    if (state.excess <= freeRefusals) return 0
    const startMs = Math.max(nowMs, state.nextMs)
    if (startMs - nowMs > maxWaitMs) return undefined
    state.nextMs = startMs + (state.excess > manyRefusals ? longPauseMs : pauseMs)
    return startMs - nowMs
  }

  /** Counts a response. Server errors (5xx) are not the client's fault. */
  note(connection: object, status: number): void {
    let state = this.#states.get(connection)
    if (status >= 400 && status < 500) {
      const nowMs = this.#nowMs()
      if (!state) this.#states.set(connection, (state = { excess: 0, atMs: nowMs, nextMs: 0 }))
      forget(state, nowMs)
      state.excess = Math.min(mostRefusals, state.excess + 1)
    } else if (state && status < 400) {
      state.excess -= 2
      if (state.excess <= 0) this.#states.delete(connection)
    }
  }
}

function forget(state: State, nowMs: number): void {
  state.excess = Math.max(0, state.excess - ((nowMs - state.atMs) / 1000) * forgottenPerSecond)
  state.atMs = nowMs
}
