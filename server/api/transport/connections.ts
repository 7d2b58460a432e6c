// Every connection of a server, so that it can be stopped: closing the server alone would wait for clients to leave.

import type { Server, Socket } from 'node:net'

const graceMs = 1_500

export class Connections {
  readonly #sockets = new Set<Socket>()

  /** Call before the server listens. */
  track(server: Pick<Server, 'on'>): void {
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  get size(): number {
    return this.#sockets.size
  }

  /** Gives `ended`, the server's own end, a moment; then cuts what is left, and waits for it. */
  async cutAfter(ended: Promise<unknown>): Promise<void> {
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy()
    }, graceMs)
    try {
      await ended
    } finally {
      clearTimeout(timer)
    }
  }
}
