// The port for the other servers of the installation. Only who shows a certificate of their authority gets a byte.

import { createServer, type Server } from 'node:https'
import type { Socket } from 'node:net'
import { AppError } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import type { PeerAddress } from '../../model/peer-address.ts'
import { optionsOfHttp1 } from '../transport/secure-server.ts'
import { disconnectStalledClients } from '../transport/stalled-clients.ts'
import { defaultTimeouts } from '../transport/timeouts.ts'
import type { PeerIdentity } from './peer-identity.ts'

export type PeerPortOptions = {
  readonly address: PeerAddress
  readonly identity: PeerIdentity
  readonly log: Logger
}

/** How long an idle connection is kept for the next request. Longer than that of the asking side. */
const idleMs = 60_000
/** As many as a server of many clients opens, and those that have shown no certificate yet. */
const maxConnections = 20_000
const maxStrangers = 1024

export class PeerPort implements AsyncDisposable {
  readonly server: Server
  readonly #address: PeerAddress
  readonly #sockets = new Set<Socket>()

  /** Listens to nothing yet; whoever answers adds a listener of requests. */
  constructor({ address, identity, log }: PeerPortOptions) {
    this.#address = address
    const { cert, key, authority } = identity
    this.server = createServer({
      ...optionsOfHttp1(defaultTimeouts),
      ...{ cert, key, ca: authority, minVersion: 'TLSv1.3', requestCert: true, rejectUnauthorized: true },
      ...{ keepAliveTimeout: idleMs, handshakeTimeout: defaultTimeouts.handshakeMs },
    })
    disconnectStalledClients(this.server, defaultTimeouts)
    this.server.maxConnections = maxConnections
    const strangers = new Set<string>()
    this.server.on('connection', (socket: Socket) => {
      const from = `${socket.remoteAddress} ${socket.remotePort}`
      this.#sockets.add(socket)
      strangers.add(from)
      socket.once('close', () => {
        this.#sockets.delete(socket)
        strangers.delete(from)
      })
      if (strangers.size > maxStrangers) socket.destroy()
    })
    // Another object than that of the connection.
    this.server.on('secureConnection', ({ remoteAddress, remotePort }) => {
      strangers.delete(`${remoteAddress} ${remotePort}`)
    })
    this.server.on('tlsClientError', (error: Error, { remoteAddress }: Socket) => {
      log.warn({ from: remoteAddress, reason: error.message }, 'a connection to the port for other servers was refused')
    })
  }

  /** Throws 'unavailable'. */
  async listen(): Promise<void> {
    const { host, port } = this.#address
    const opened = Promise.withResolvers<void>()
    this.server.once('error', opened.reject)
    this.server.listen({ host, port }, opened.resolve)
    try {
      await opened.promise
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      throw new AppError('unavailable', `peer-address: cannot listen on ${host} port ${port}, ${code}`, { cause })
    }
    this.server.off('error', opened.reject)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    if (this.server.listening) await new Promise((resolve) => this.server.close(resolve))
  }
}
