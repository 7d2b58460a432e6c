// The routes of a server that has no cameras: what needs them is answered by the server that has them.

import type { FastifyInstance, HTTPMethods } from 'fastify'
import { endpointNames, endpoints } from '../../contract/endpoints.ts'
import type { Handlers } from './call.ts'
import type { Forward } from './deps.ts'
import { toRoute } from './endpoint-routes.ts'

/** Not OPTIONS, which every server answers alike. */
const methods: HTTPMethods[] = ['GET', 'POST', 'PUT', 'DELETE']

/** `handlers`: of the endpoints that this server answers itself. */
export function registerForwarding(server: FastifyInstance, forward: Forward, handlers: Partial<Handlers>): void {
  const add = (method: HTTPMethods | HTTPMethods[], url: string) =>
    server.route({
      method,
      url,
      // Before the body is read. The other server checks the credentials.
      onRequest: forward,
      handler: () => {},
    })
  for (const name of endpointNames) if (!handlers[name]) add(endpoints[name].method, toRoute(endpoints[name]))
  for (const prefix of ['/media', '/recording']) add(methods, `${prefix}/*`)
}
