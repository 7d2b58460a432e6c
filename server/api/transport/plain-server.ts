// HTTP without TLS, for a proxy that does TLS and is reached over this machine or a network of its own. HTTP/1.1, as
// proxies speak it. That nobody else is answered is settled in request-origin.ts.

import { createServer, type RequestListener, type Server } from 'node:http'
import { refuseExpectation } from './request-rules.ts'
import { optionsOfHttp1 } from './secure-server.ts'
import { disconnectStalledClients } from './stalled-clients.ts'
import type { Timeouts } from './timeouts.ts'

/** `onRequest` serves by `keepRules`. The server listens to nothing yet. */
export function createPlainServer(onRequest: RequestListener, timeouts: Timeouts): Server {
  const options = { ...optionsOfHttp1(timeouts), keepAliveTimeout: timeouts.proxyIdleMs }
  const server = createServer(options, onRequest)
  server.on('checkExpectation', refuseExpectation)
  disconnectStalledClients(server, timeouts)
  return server
}
