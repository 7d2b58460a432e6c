// The one HTTPS port: HTTP/2 and HTTP/1.1 over TLS 1.2 and 1.3, and a word to those who come without TLS.

import type { RequestListener } from 'node:http'
import { createSecureServer as createHttp2Server, type Http2SecureServer } from 'node:http2'
import { limitHttp2 } from './http2-limits.ts'
import { keepSessionHandles } from './keep-session-handles.ts'
import { maxStreamsOfSession } from './limit-session-streams.ts'
import { type OnClearCredentials, refusePlainHttp } from './plain-http.ts'
import { refuseExpectation } from './request-rules.ts'
import { disconnectStalledClients } from './stalled-clients.ts'
import type { Timeouts } from './timeouts.ts'

export type Identity = {
  /** PEM; the certificate may be a chain. */
  readonly key: string
  readonly cert: string
}

/** Authenticated encryption only (RFC 9325 section 4.2); the first three are those of TLS 1.3. */
const ciphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

const maxHeaderBytes = 16 * 1024

/** Of HTTP/1.1, with TLS and without; the request must be handled by `keepRules`. */
export function optionsOfHttp1(timeouts: Timeouts) {
  return {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.idleMs,
    connectionsCheckingInterval: timeouts.checkIntervalMs,
    noDelay: true,
    // See request-rules.ts.
    requireHostHeader: false,
    joinDuplicateHeaders: true,
  }
}

/** What a handshake is made with. */
function contextOf({ key, cert }: Identity) {
  return { key, cert, minVersion: 'TLSv1.2', ciphers, honorCipherOrder: true } as const
}

/** Connections from now on see this certificate; those there are go on. */
export function replaceIdentity(server: Http2SecureServer, identity: Identity): void {
  server.setSecureContext(contextOf(identity))
}

/** `onRequest` serves both versions of HTTP, by `keepRules`. The server listens to nothing yet. */
export function createSecureServer(
  onRequest: RequestListener,
  identity: Identity,
  timeouts: Timeouts,
  onClearCredentials?: OnClearCredentials,
): Http2SecureServer {
  const options = {
    ...contextOf(identity),
    allowHTTP1: true,
    handshakeTimeout: timeouts.handshakeMs,
    settings: { maxConcurrentStreams: maxStreamsOfSession, maxHeaderListSize: maxHeaderBytes },
    maxSessionMemory: 10,
    // Node's HTTP/2 server hands them on to the parser of HTTP/1.1 that it falls back to.
    ...optionsOfHttp1(timeouts),
  }
  // Node's types know one request class per version; at run time both are what Fastify expects.
  const server = createHttp2Server(options, onRequest as never)
  server.on('checkExpectation', refuseExpectation as never)
  limitHttp2(server, timeouts)
  keepSessionHandles(server)
  disconnectStalledClients(server, timeouts)
  refusePlainHttp(server, timeouts.handshakeMs, onClearCredentials)
  return server
}
