// How long a connection waits whose requests are refused again and again. A refusal costs the server as much as many an
// answer, and a program that does not heed it asks the faster the sooner it is refused. Whoever else is at the same
// address has a connection of their own, and does not wait.

/**
 * By how many refusals may outweigh answers before the connection waits: a page of cameras whose pictures are all gone
 * is no attack. One answer makes up for two.
 */
const freeRefusals = 100
const manyRefusals = 150
const mostRefusals = 170
/** Forgotten each second. */
const forgottenPerSecond = 1

/** From one request that is looked at to the next. */
const pauseMs = 250
const longPauseMs = 1000

/** What would have to wait longer is not kept. */
const maxWaitMs = 10_000

type State = { excess: number; atMs: number; nextMs: number }

export class RefusalBackoff {
  /** Of connections that were refused something a short while ago. */
  readonly #states = new WeakMap<object, State>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /**
   * Whether it was refused something a short while ago. Nobody else waits, and the answers of nobody else need be
   * noted.
   */
  has(connection: object): boolean {
    return this.#states.has(connection)
  }

  /**
   * How long the next request of this connection is to wait, and from then on the one after it. Undefined: it is not to
   * be kept.
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

  /** With the status of each answer. What the server could not do (5xx) is not the client's fault. */
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
