// Chooses the transport of a camera's packets: the RTSP connection itself (TCP) or datagrams (UDP). There is no
// setting: TCP is tried first because it loses no packets and passes firewalls. If the camera refuses a transport or
// sends nothing over it, the other one is tried.

export type RtspTransport = 'tcp' | 'udp'

/** One instance per camera, shared by all its connections. */
export class TransportChoice {
  #next: RtspTransport = 'tcp'

  /** The transport for the connection that is about to start. */
  get next(): RtspTransport {
    return this.#next
  }

  /** The camera refused this transport, or sent nothing over it. */
  noteFailure(transport: RtspTransport): void {
    this.#next = transport === 'tcp' ? 'udp' : 'tcp'
  }
}
