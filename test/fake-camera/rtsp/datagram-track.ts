// One track of a client in datagrams (RFC 2326 12.39): a pair of sockets that send what is written as framed packets, each
// packet as a datagram. Nothing is said of what gets lost.

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'

/** `from`: the own address that they come from. `address` is undefined if the client is gone. */
export type DatagramRoute = { readonly from: string; readonly address: string | undefined }

export type ClientPorts = { readonly address: string; readonly rtp: number; readonly rtcp: number }

export class DatagramTrack implements Disposable {
  readonly #client: ClientPorts
  readonly #rtp: Socket
  readonly #rtcp: Socket

  private constructor(client: ClientPorts, rtp: Socket, rtcp: Socket) {
    this.#client = client
    this.#rtp = rtp
    this.#rtcp = rtcp
  }

  static async open(client: ClientPorts, from: string): Promise<DatagramTrack> {
    const [rtp, rtcp] = await Promise.all([openSocket(from), openSocket(from)])
    return new DatagramTrack(client, rtp, rtcp)
  }

  /** For the answer to SETUP. */
  get transport(): string {
    const { rtp, rtcp } = this.#client
    return `RTP/AVP;unicast;client_port=${rtp}-${rtcp};server_port=${this.#rtp.address().port}-${this.#rtcp.address().port}`
  }

  /** `framed`: packets as for an interleaved connection; those on odd channels are RTCP. */
  send(framed: Uint8Array): void {
    for (let at = 0; at + 4 <= framed.length; ) {
      const end = Math.min(framed.length, at + 4 + ((framed[at + 2]! << 8) | framed[at + 3]!))
      const isReport = (framed[at + 1]! & 1) === 1
      const packet = framed.slice(at + 4, end)
      if (isReport) this.#rtcp.send(packet, this.#client.rtcp, this.#client.address, () => {})
      else this.#rtp.send(packet, this.#client.rtp, this.#client.address, () => {})
      at = end
    }
  }

  [Symbol.dispose](): void {
    this.#rtp.close()
    this.#rtcp.close()
  }
}

async function openSocket(from: string): Promise<Socket> {
  const socket = createSocket('udp4')
  // Nobody listens there any more, or the client's punches through routers: neither matters.
  socket.on('error', () => {})
  socket.bind(0, from)
  await once(socket, 'listening')
  return socket
}
