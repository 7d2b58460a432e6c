// What a connection to a camera carries, byte for byte, before anything has read it. Only the command that records a
// session for a report listens; a server has no tap.

export type TappedEvent =
  /** A new connection; the following events belong to it. */
  | { readonly kind: 'connect' }
  /** Bytes of the connection. They are valid during the call only. */
  | { readonly kind: 'sent' | 'received'; readonly bytes: Uint8Array }
  /** A datagram of the camera. Tracks are numbered in the order of their SETUP requests. */
  | { readonly kind: 'rtp' | 'rtcp'; readonly track: number; readonly bytes: Uint8Array }
  /** The camera ended the connection, or this server did. */
  | { readonly kind: 'end' | 'left' }

export type SessionTap = (event: TappedEvent) => void
