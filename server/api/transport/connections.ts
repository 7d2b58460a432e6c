// Every connection of a server, so that it can be stopped: closing the server alone would wait for clients to leave.
// One address has only so many of them, and of the streams in them.

import type { Http2SecureServer, ServerHttp2Stream } from 'node:http2'
import { constants } from 'node:http2'
import type { Server, Socket } from 'node:net'
import { addressBlock } from '../../auth/guard/address-block.ts'
import { limitSessionStreams } from './limit-session-streams.ts'
import { plainAddress, type TrustedProxies } from './trusted-proxies.ts'
import { UsageCounter, type UsageLimits } from './usage-counter.ts'

const graceMs = 1_500

/** What clients may have altogether, and those of one address. */
export type ClientLimits = {
  readonly connections: UsageLimits
  /** Of HTTP/2. */
  readonly streams: UsageLimits
  /** Of large answers that are being sent. */
  readonly unsentBytes: UsageLimits
}

export type ConnectionsOptions = Pick<ClientLimits, 'connections' | 'streams'> & {
  /** One has the connections of all its clients. */
  readonly proxies: TrustedProxies
}

export class Connections {
  readonly #sockets = new Set<Socket>()
  readonly #proxies: TrustedProxies
  readonly #connectionsOf: UsageCounter
  readonly #streamsOf: UsageCounter

  constructor({ connections, streams, proxies }: ConnectionsOptions) {
    this.#proxies = proxies
    this.#connectionsOf = new UsageCounter(connections)
    this.#streamsOf = new UsageCounter(streams)
  }

  /** Call before the server listens, and before anything else takes its connections and streams. */
  track(server: Server): void {
    server.prependListener('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      if (!this.#count(this.#connectionsOf, socket, socket)) socket.destroy()
    })
    ;(server as unknown as Http2SecureServer).prependListener('stream', (stream) => {
      const { socket } = stream.session ?? {}
      if (!socket || this.#count(this.#streamsOf, socket, stream)) return
      stream.close(constants.NGHTTP2_REFUSED_STREAM)
      limitSessionStreams(stream.session!)
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

  /** Counts `what` until it closes. Returns false if the client has too many. */
  #count(
    usage: UsageCounter,
    { remoteAddress = '' }: { remoteAddress?: string | undefined },
    what: Socket | ServerHttp2Stream,
  ): boolean {
    const address = plainAddress(remoteAddress)
    if (this.#proxies.has(address)) return true
    const block = addressBlock(address)
    if (!usage.take(block)) return false
    what.once('close', () => usage.give(block))
    return true
  }
}
