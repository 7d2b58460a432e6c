// How long data is under way to a client. Buffers of the system and of routers hold megabytes: on a line that is slower
// than a stream, that is a minute of video, and everything else on the connection waits behind it.
//
// An HTTP/2 ping is answered behind the data that was sent before it. A stream that waits for the answer therefore has no
// more under way than the line carries in a moment, and what waits is in its own queue, which drops what is old.

import type { ServerResponse } from 'node:http'
import type { Http2Session } from 'node:http2'

const pingEveryMs = 250
/** An answer that takes so much longer than one with nothing before it waited behind data. */
const mostDelayMs = 250
/** The line itself, over satellites as well, takes less. */
const mostLeastMs = 1000
/** While answers are late: a line may become longer, when a phone leaves a house. */
const measureEveryMs = 10_000
/** Then it does not come, and the stream goes on without it. */
const patienceMs = 5000
/** What may be sent behind a ping before it is answered: more and more on a line that is fast, less on one that is not. */
const window = { first: 128 * 1024, least: 64 * 1024, most: 4 * 1024 * 1024 }

const lines = new WeakMap<Http2Session, Line>()

/**
 * Resolves when so many more bytes may be sent, because the client has what was sent a moment ago, or when `signal`
 * aborts; at once for HTTP/1.1, where each stream has a connection of its own.
 */
export async function lineIsFree(response: ServerResponse, bytes: number, signal: AbortSignal): Promise<void> {
  const session = (response as { readonly stream?: { readonly session?: Http2Session } }).stream?.session
  if (!session || session.destroyed) return
  const line = lines.get(session) ?? new Line(session)
  lines.set(session, line)
  await line.becomeFree(bytes, signal)
}

class Line {
  readonly #session: Http2Session
  /** How long the line itself takes, with nothing under way. */
  #leastMs = mostLeastMs
  #measuredMs = Number.NEGATIVE_INFINITY
  #isMeasuring = false
  #sentMs = Number.NEGATIVE_INFINITY
  #window = window.first
  /** Sent since the last ping. */
  #bytes = 0
  /** Resolves with the answer to the ping that is under way. */
  #answer: Promise<void> | undefined

  constructor(session: Http2Session) {
    this.#session = session
  }

  async becomeFree(bytes: number, signal: AbortSignal): Promise<void> {
    const nowMs = performance.now()
    const isFull = this.#bytes >= this.#window
    if (!this.#answer && (isFull || nowMs - this.#sentMs >= pingEveryMs)) {
      this.#answer = this.#look().then(() => {
        this.#answer = undefined
      })
    } else if (this.#answer && (isFull || this.#isMeasuring || this.#isLate(nowMs - this.#sentMs))) {
      await untilAnswered(this.#answer, signal)
    }
    this.#bytes += bytes
  }

  #isLate(durationMs: number): boolean {
    return durationMs > this.#leastMs + mostDelayMs
  }

  async #look(): Promise<void> {
    const durationMs = await this.#ping()
    if (durationMs === undefined) return
    this.#leastMs = Math.min(this.#leastMs, durationMs)
    const isLate = this.#isLate(durationMs)
    this.#window = isLate ? Math.max(window.least, this.#window / 2) : Math.min(window.most, this.#window * 2)
    if (isLate && performance.now() - this.#measuredMs >= measureEveryMs) await this.#measure()
  }

  /** Streams wait meanwhile. The first answer comes behind what was sent before, the second behind nothing. */
  async #measure(): Promise<void> {
    this.#isMeasuring = true
    await this.#ping()
    const hasNothingBefore = this.#bytes === 0
    const durationMs = await this.#ping()
    if (hasNothingBefore && durationMs !== undefined) this.#leastMs = Math.min(mostLeastMs, durationMs)
    this.#measuredMs = performance.now()
    this.#isMeasuring = false
  }

  /** How long its answer took, in milliseconds; undefined if there is none. */
  #ping(): Promise<number | undefined> {
    return new Promise((resolve) => {
      if (this.#session.destroyed) return resolve(undefined)
      const isSent = this.#session.ping((error, durationMs) => resolve(error ? undefined : durationMs))
      if (!isSent) return resolve(undefined)
      this.#sentMs = performance.now()
      this.#bytes = 0
    })
  }
}

function untilAnswered(answer: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, patienceMs)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    void answer.then(end)
  })
}
