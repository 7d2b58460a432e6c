// How long data is under way to a client. Buffers of the system and of routers hold megabytes: on a line that is slower
// than a stream, that is a minute of video, and everything else on the connection waits behind it.
//
// An HTTP/2 ping is answered behind the data that was sent before it. A stream that waits for the answer therefore has no
// more under way than the line carries in a moment, and what waits is in its own queue, which drops what is old.

import type { ServerResponse } from 'node:http'
import type { Http2Session } from 'node:http2'

const pingEveryMs = 250
/** An answer that takes so much longer than the fastest one waited behind data. */
const mostDelayMs = 250
/** The fastest answer of a line over satellites takes less. */
const mostLeastMs = 1000
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
  #leastMs = mostLeastMs
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
    if (!this.#answer && (isFull || nowMs - this.#sentMs >= pingEveryMs)) this.#ping(nowMs)
    else if (this.#answer && (isFull || this.#isLate(nowMs - this.#sentMs))) await untilAnswered(this.#answer, signal)
    this.#bytes += bytes
  }

  #isLate(durationMs: number): boolean {
    return durationMs > this.#leastMs + mostDelayMs
  }

  #ping(nowMs: number): void {
    const { promise, resolve } = Promise.withResolvers<void>()
    const isSent = this.#session.ping((error, durationMs) => {
      if (!error) this.#leastMs = Math.min(this.#leastMs, durationMs)
      this.#window = this.#isLate(durationMs)
        ? Math.max(window.least, this.#window / 2)
        : Math.min(window.most, this.#window * 2)
      this.#answer = undefined
      resolve()
    })
    if (!isSent) return
    this.#sentMs = nowMs
    this.#bytes = 0
    this.#answer = promise
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
