// How long a peer may take before its connection is closed. Defaults of Fastify are 0, which is for ever.

export type Timeouts = {
  /** From the first byte of a connection to the end of the TLS handshake. */
  readonly handshakeMs: number
  /** From the start of a request to the end of its headers. */
  readonly headersMs: number
  /** From the start of a request to the end of its body. Answers may take as long as they need. */
  readonly requestMs: number
  /** Between two requests of a connection. For the first one, the time for headers begins with the connection. */
  readonly idleMs: number
  /**
   * The same for a proxy, and before its first request too. A proxy must be the first to close: a request that it sends
   * while the server closes is lost, and its client gets 502. Longer than any proxy keeps idle connections; Envoy's hour
   * is the longest.
   */
  readonly proxyIdleMs: number
  /**
   * Without a byte in either direction while an answer is due: then it is 503. Streams of media set their own. Longer
   * than a request may take and one check more, so that a request that stopped half-way is told so.
   */
  readonly stallMs: number
  /** Without a byte taken of an answer that was sent; with two checks more it is less than half a minute. */
  readonly unreadTimeoutMs: number
  /** How often the limits are looked at. */
  readonly checkIntervalMs: number
}

export const defaultTimeouts: Timeouts = {
  handshakeMs: 10_000,
  headersMs: 15_000,
  requestMs: 25_000,
  idleMs: 15_000,
  proxyIdleMs: 65 * 60_000,
  stallMs: 30_000,
  unreadTimeoutMs: 25_000,
  checkIntervalMs: 2_000,
}
