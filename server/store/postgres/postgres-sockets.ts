// The sockets of connections to PostgreSQL, kept so that they can be cut: a server that hangs does not answer a
// farewell either.

import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** How long a server may take to say goodbye. */
const farewellMs = 1000

export class PostgresSockets {
  readonly #open = new Set<Socket>()

  /** For the option `stream` of pg's clients. */
  readonly create = (): Socket => {
    const socket = new Socket()
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
    return socket
  }

  /** Waits for `farewell`, but not for long; then nothing is left open. */
  async end(farewell: Promise<unknown>): Promise<void> {
    const waiting = new AbortController()
    await Promise.race([farewell, delay(farewellMs, undefined, { signal: waiting.signal }).catch(() => {})])
    waiting.abort()
    for (const socket of this.#open) socket.destroy()
  }
}
