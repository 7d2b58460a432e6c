// Registers every endpoint of the contract with its handler. Order of checks: 401, 403, 404, 400.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { CameraPath } from '../../contract/camera.ts'
import type { Endpoint } from '../../contract/endpoint.ts'
import { type EndpointName, endpointNames, endpoints } from '../../contract/endpoints.ts'
import { AppError } from '../base/error.ts'
import { refused } from './allowed-methods.ts'
import { sendEmpty, sendEncoded, sendJson } from './answer.ts'
import type { AnswerCache } from './answer-cache.ts'
import { type AuthorizerOptions, createAuthorizer } from './authorize.ts'
import type { Call, Handlers } from './call.ts'
import { loadPathCamera, type PathCameraOptions, refuse } from './path-camera.ts'
import { parseError } from './problem.ts'
import { readBody, readQuery } from './read-fields.ts'
import { findInJson, readJson } from './read-json.ts'
import { readParams } from './read-params.ts'
import { sentBody } from './request-body.ts'
import { isGone } from './transport/drained.ts'
import { contextOf } from './transport/request-origin.ts'

type AnyCall = Call<Endpoint & { readonly hasBodyCredential: true }>
type AnyHandler = (call: AnyCall) => Promise<unknown>

/** Run before anything else, and may hand the request on to another server. */
export type EndpointHooks = Partial<
  Record<EndpointName, (request: FastifyRequest, reply: FastifyReply) => Promise<void>>
>

export type EndpointRoutesOptions = AuthorizerOptions &
  PathCameraOptions & {
    /** Endpoints without a handler are not registered. */
    readonly handlers: Partial<Handlers>
    readonly caches: readonly AnswerCache[]
    readonly hooks?: EndpointHooks
  }

export function registerEndpoints(server: FastifyInstance, options: EndpointRoutesOptions): void {
  const { handlers, caches, hooks = {} } = options
  server.decorateRequest('caller', null)
  for (const name of endpointNames) {
    const endpoint: Endpoint = endpoints[name]
    const handler = handlers[name] as AnyHandler | undefined
    if (!handler) continue
    const handle = createHandler(endpoint, handler, options)
    const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      const result = await handle(createCall(endpoint, request, reply))
      if (endpoint.status === 204) sendEmpty(reply, 204)
      else sendJson(reply, endpoint.status, JSON.stringify(result))
    }
    const cache = caches.find((each) => each.keeps(name))
    const keepAnswer = async (cache: AnswerCache, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      const make = async () => JSON.stringify(await handle(createCall(endpoint, request, reply)))
      const json = await cache.load(name, request.caller!.credential, request.url, make)
      sendEncoded(reply, endpoint.status, json)
    }
    server.route({
      method: endpoint.method,
      url: toRoute(endpoint),
      // Before the body is read, so that strangers learn nothing about its format.
      onRequest: [...(hooks[name] ? [hooks[name]] : []), createAuthorizer(options, endpoint)],
      handler: cache ? (request, reply) => keepAnswer(cache, request, reply) : answer,
    })
  }
  refuseNeighbors(server)
}

/** The path as the router takes it. */
export const toRoute = ({ path }: Pick<Endpoint, 'path'>): string => path.replace(/\{(\w+)\}/g, ':$1')

/**
 * Without this, `PUT /v1/cameras/onvif-discovery/` would be the change of a camera that does not exist, 404, and not a
 * method that the path does not have, 405.
 */
function refuseNeighbors(server: FastifyInstance): void {
  const all = Object.values(endpoints) as Endpoint[]
  const shapeOf = (path: string) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/{}]+')}$`)
  for (const own of new Set(all.map(({ path }) => path).filter((path) => !path.includes('{')))) {
    const has = new Set(all.filter(({ path }) => path === own).map(({ method }) => method))
    const others = all.filter(({ path, method }) => path !== own && !has.has(method) && shapeOf(path).test(own))
    for (const method of new Set(others.map(({ method }) => method)))
      server.route({ method, url: own, config: refused, handler: (_request, reply) => reply.callNotFound() })
  }
}

/** The handler, called with the camera in the path where the endpoint has one. */
function createHandler(endpoint: Endpoint, handle: AnyHandler, options: PathCameraOptions): AnyHandler {
  if (endpoint.camera === undefined) return handle
  const isView = endpoint.camera === 'shared' && endpoint.method === 'GET'
  return async (call) => {
    const { userId } = call.caller!
    const { camera_id: cameraId } = call.params as Static<typeof CameraPath>
    const found = await loadPathCamera(options, endpoint, userId, cameraId)
    call.refuse()
    const result = await handle({ ...call, ...found })
    if (isView) await options.access.markViewed(userId, cameraId)
    return result
  }
}

function createCall(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply): AnyCall {
  // The router passes the query on as text, see http-server.ts.
  const queryText = request.query as string
  return {
    caller: request.caller ?? undefined,
    context: () => contextOf(request),
    refuse: () => refuse(request),
    signal: () => signalOf(reply),
    params: endpoint.params && readParams(endpoint.params, request.params as Record<string, string>),
    query: () => endpoint.query && readQuery(endpoint.query, queryText),
    body: () => endpoint.body && readBody(endpoint.body, readSent(endpoint, request)),
    bodyPart: (names) => endpoint.body && readBody(endpoint.body, readJson(sentBody(request)), names),
    findInBody: (name) => findInJson(sentBody(request), name),
    setRate: (rate) => {
      request.rate = rate ?? null
    },
    queryText,
  }
}

/** A change that names nothing is a body that got lost. The interface says so of no endpoint that it describes. */
function readSent({ method, body, isExtension }: Endpoint, request: FastifyRequest): unknown {
  const sent = sentBody(request)
  const { required = [] } = body as { readonly required?: readonly string[] }
  if (isExtension && method === 'PUT' && required.length === 0 && !sent.bytes?.length)
    throw parseError('the body is missing: a JSON object with the fields to change is required')
  return readJson(sent)
}

function signalOf({ raw: response }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  // The event also occurs after a response was sent; nothing listens to it then.
  const abort = () => gone.abort(new AppError('unavailable', 'whoever asked has gone'))
  if (isGone(response)) abort()
  else response.once('close', abort)
  return gone.signal
}
