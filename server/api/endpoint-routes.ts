// Registers every built endpoint of the contract with its handler. Order of checks: 401, 403, 404, 400.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Access, Endpoint } from '../../contract/endpoint.ts'
import { builtNames, endpoints } from '../../contract/endpoints.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import type { Caller } from '../auth/caller.ts'
import { sendEmpty, sendJson } from './answer.ts'
import type { AnswerCache } from './answer-cache.ts'
import type { Call, Handlers } from './call.ts'
import { insufficientScope } from './problem.ts'
import { readBody, readQuery } from './read-fields.ts'
import { readJson } from './read-json.ts'
import { readParams } from './read-params.ts'
import { sentBody } from './request-body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls; set before anything of the request is read. Only under /v1. */
    caller: Caller | null
  }
}

type AnyHandler = (call: Call<Endpoint>) => Promise<unknown>

export type EndpointRoutesOptions = {
  readonly handlers: Handlers
  readonly authenticator: Pick<Authenticator, 'authenticate'>
  readonly cache: AnswerCache
}

export function registerEndpoints(server: FastifyInstance, options: EndpointRoutesOptions): void {
  const { handlers, authenticator, cache } = options
  server.decorateRequest('caller', null)
  for (const name of builtNames) {
    const endpoint: Endpoint = endpoints[name]
    const handle = handlers[name] as AnyHandler
    const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      const result = await handle(createCall(endpoint, request))
      if (endpoint.status === 204) sendEmpty(reply, 204)
      else sendJson(reply, endpoint.status, JSON.stringify(result))
    }
    const answerFromMemory = (request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined => {
      const { tokenId } = request.caller!
      const known = cache.find(tokenId, request.url)
      if (known === undefined) {
        const make = async () => JSON.stringify(await handle(createCall(endpoint, request)))
        return cache.load(tokenId, request.url, make).then((json) => sendJson(reply, endpoint.status, json))
      }
      sendJson(reply, endpoint.status, known)
      return undefined
    }
    server.route({
      method: endpoint.method,
      url: endpoint.path.replace(/\{(\w+)\}/g, ':$1'),
      // Before the body is read: a stranger learns nothing about what it should hold.
      onRequest: createGate(authenticator, endpoint.access),
      handler: cache.keeps(name) ? answerFromMemory : answer,
    })
  }
}

/** A hook that lets in callers whose credentials cover `access`. Does not wait when the authenticator does not. */
export function createGate(authenticator: Pick<Authenticator, 'authenticate'>, access: Access) {
  const admit = (request: FastifyRequest, caller: Caller): void => {
    const { scopes } = caller
    const isCovered =
      access.all.every((scope) => scopes.has(scope)) || (access.or !== undefined && scopes.has(access.or))
    if (!isCovered) throw insufficientScope(access.all)
    request.caller = caller
  }
  return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    try {
      const caller = authenticator.authenticate(request.headers.authorization)
      if (caller instanceof Promise) {
        caller.then((found) => admit(request, found)).then(() => done(), done)
        return
      }
      admit(request, caller)
    } catch (error) {
      done(error as Error)
      return
    }
    done()
  }
}

function createCall(endpoint: Endpoint, request: FastifyRequest): Call<Endpoint> {
  // The router's query parser hands the text on as it came, see http-server.ts.
  const queryText = request.query as string
  return {
    caller: request.caller!,
    params: endpoint.params && readParams(endpoint.params, request.params as Record<string, string>),
    query: () => endpoint.query && readQuery(endpoint.query, queryText),
    body: () => endpoint.body && readBody(endpoint.body, readJson(sentBody(request))),
    queryText,
  }
}
