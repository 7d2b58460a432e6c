// Keeps the sockets of connections to PostgreSQL, so that they can be destroyed: a server that hangs does not answer a
// request to close either.

import { Socket } from 'node:net'
import { systemClock } from '../../base/clock.ts'
import { settlesWithin } from '../../base/deadline.ts'

/** How long closing a connection may take. */
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

  destroy(): void {
    for (const socket of this.#open) socket.destroy()
  }

  /** Waits a short time for `farewell`, then destroys all sockets that are still open. */
  async end(farewell: Promise<unknown>): Promise<void> {
    await settlesWithin(farewell, farewellMs, systemClock)
    this.destroy()
  }
}
