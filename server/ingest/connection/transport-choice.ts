// Over what a camera is asked to send its packets: the RTSP connection itself, or datagrams. Nobody is asked: TCP goes
// first because it loses nothing and passes everywhere; what the camera refuses or leaves empty is followed by the
// other.

export type RtspTransport = 'tcp' | 'udp'

/** One for each camera, over all its connections. */
export class TransportChoice {
  #next: RtspTransport = 'tcp'

  /** For the connection that is about to begin. */
  get next(): RtspTransport {
    return this.#next
  }

  /** The camera refused this one, or sent nothing over it. */
  noteFailure(transport: RtspTransport): void {
    this.#next = transport === 'tcp' ? 'udp' : 'tcp'
  }
}
