// Which requests another server of the database answers: those for video that name it in their path (/at/{name}/…), and
// what needs a server that has cameras, or the one that has this camera.

import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { type EndpointName, endpointNames, endpoints } from '../../contract/endpoints.ts'
import { AppError } from '../base/error.ts'
import { parseTime } from '../model/time.ts'
import type { Handlers } from './call.ts'
import type { AnsweringDeps, PeerDeps, Recorded } from './deps.ts'
import { type EndpointHooks, toRoute } from './endpoint-routes.ts'
import { refuse } from './path-camera.ts'
import { cameraOf, hopsHeader } from './peers/forwarder.ts'
import { isGone } from './transport/drained.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** The server that the path has named, which is no longer part of it. */
    serverName?: string
    /** How many servers have handed it on. */
    hops?: number
  }
}

/** From a server that thinks that another one has the camera, to that one, to the one that has it by now. */
const maxHops = 2

/** A camera that was given back is taken in this time, unless the database is away. How often it is looked for. */
const takenMs = 3000
const lookMs = 100

/** Names as the option node-name takes them. Of the interface, what is about a server itself. */
const namedPath = /^\/at\/([A-Za-z0-9][A-Za-z0-9.-]{0,62})(\/(?:media|recording)\/.*|\/v1\/me\/storage\/)$/

/** Where a balancer may send requests for video of this server directly. `publicUrl`: without a trailing slash. */
export const createServerUrl = (publicUrl: string, name: string): string => `${publicUrl}/at/${name}`

/** Moves the name of the server from the path to `serverName`. */
export function takeServerName(request: IncomingMessage): void {
  if (!request.url!.startsWith('/at/')) return
  const [, name, path] = namedPath.exec(request.url!) ?? []
  if (name === undefined) return
  request.serverName = name
  request.url = path!
}

/**
 * Hands requests on to the server that their path names, while it is alive. If it does not answer, the refusal waits until it
 * is known who asks. `isFromPeer`: whether another server did so.
 */
export function registerNamedServers(
  server: FastifyInstance,
  peers: PeerDeps,
  isFromPeer: (request: IncomingMessage) => boolean,
): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { raw } = request
    raw.hops = isFromPeer(raw) ? Number(raw.headers[hopsHeader] ?? 1) : 0
    const name = raw.serverName
    const other = name === undefined || raw.hops > 0 ? undefined : peers.find(name)
    if (!other) {
      // Another server could play the same video, and does not know this.
      if (name !== undefined && name !== peers.ownName && raw.url!.startsWith('/v1/'))
        raw.refusal = new AppError('unavailable', `the server ${name} does not answer`)
      return done()
    }
    peers.forward(request, reply, other).catch((error) => {
      raw.refusal = error
      done()
    })
  })
}

/**
 * Does nothing if this server has the camera. While no living server has it, the request waits some seconds: one server has
 * given it back, and the next one takes it. If none does, or it does not answer, the request gets a refusal, to be thrown by
 * `refuse` once it is known who asks: strangers do not learn which cameras exist.
 */
export type HandOn = (request: FastifyRequest, reply: FastifyReply, cameraId: number) => Promise<void>

export const createHandOn =
  (peers: PeerDeps): HandOn =>
  async (request, reply, cameraId) => {
    const { raw } = request
    let owner = peers.findOwner(cameraId)
    for (let waitedMs = 0; !owner && !raw.refusal && waitedMs < takenMs && !isGone(reply.raw); waitedMs += lookMs) {
      await sleep(lookMs)
      owner = peers.findOwner(cameraId)
    }
    if (owner === 'this') raw.refusal = undefined
    // Not once more if the path named a server that did not answer just now.
    if (owner === 'this' || raw.refusal) return
    try {
      if (owner && raw.hops! < maxHops) return await peers.forward(request, reply, owner)
      throw new AppError('unavailable', 'no server has this camera at the moment')
    } catch (error) {
      raw.refusal = error as AppError
      dropBody(raw)
    }
  }

/** The body of a request that is refused whatever it says, of which the other server may have been sent a part. */
function dropBody(request: IncomingMessage): void {
  for (const name of ['content-type', 'content-length', 'transfer-encoding']) delete request.headers[name]
  request.unpipe()
  request.resume()
}

/** Of a server with cameras: what the server that has the camera knows alone, or reads at once. */
const ofOwner = [
  ...(['getCameraStatistics', 'getRecording', 'getSharedRecording', 'enableRecording', 'updateRecording'] as const),
  ...(['getTimeline', 'getSharedTimeline', 'getPictures', 'getSharedPictures'] as const),
  ...(['createStream', 'createSharedStream', 'createDownload', 'createSharedDownload'] as const),
] satisfies EndpointName[]

/** Hooks of a server with cameras, beside others that have some. */
export function createOwnerHooks(
  { peers, recorded }: { readonly peers: PeerDeps; readonly recorded: Pick<Recorded, 'checkAccess'> },
  handOn: HandOn,
): EndpointHooks {
  const hook = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const cameraId = cameraOf(request)
    if (cameraId !== undefined) await handOn(request, reply, cameraId)
  }
  return {
    ...Object.fromEntries(ofOwner.map((name) => [name, hook])),
    async getStreamInfo(request, reply) {
      const { streamer_name, streamer_id } = request.params as { streamer_name: string; streamer_id: string }
      const other = request.raw.hops! > 0 ? undefined : peers.find(streamer_name)
      // Where it does not answer, the stream goes on at the server with the camera.
      const isAnswered =
        other &&
        peers.forward(request, reply, other).then(
          () => true,
          () => false,
        )
      if (await isAnswered) return
      // A stream that does not exist is 404, once it is known who asks.
      const found = await recorded.checkAccess(streamer_id).catch(() => undefined)
      if (found) await handOn(request, reply, found.cameraId)
      refuse(request)
    },
  }
}

/** Hooks of a server without cameras, which plays only what it can read by itself. */
export function createAnsweringHooks({
  peers,
  canPlay,
}: Pick<AnsweringDeps, 'canPlay'> & { readonly peers: PeerDeps }) {
  const play = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { camera_id } = request.params as { camera_id: string }
    const query = new URLSearchParams(request.query as string)
    const [startMs, endMs] = ['start', 'end'].map((name) => parseTime(query.get(name) ?? ''))
    const isHere =
      startMs !== undefined &&
      endMs !== undefined &&
      /^[1-9]\d{0,14}$/.test(camera_id) &&
      (await canPlay(Number(camera_id), startMs, endMs))
    if (!isHere) await peers.forward(request, reply)
  }
  return {
    createStream: play,
    createSharedStream: play,
    createDownload: play,
    createSharedDownload: play,
    async getStreamInfo(request, reply) {
      const { streamer_name } = request.params as { streamer_name: string }
      if (streamer_name === peers.ownName) return
      const named = peers.find(streamer_name)
      await peers.forward(request, reply, named).catch((error) => {
        if (!named) throw error
        return peers.forward(request, reply)
      })
    },
  } satisfies EndpointHooks
}

/** Not OPTIONS, which every server answers alike. */
const methods: HTTPMethods[] = ['GET', 'POST', 'PUT', 'DELETE']

/**
 * Of a server without cameras. `handlers`: of the endpoints that this server answers itself. `registerRecorded` adds the
 * routes of the recorded streams that it has, under URLs that name it.
 */
export function registerForwarding(
  server: FastifyInstance,
  { ownName, forward }: PeerDeps,
  handlers: Partial<Handlers>,
  registerRecorded: (scope: FastifyInstance) => void,
): void {
  const hand = (request: FastifyRequest, reply: FastifyReply) => forward(request, reply)
  const add = (method: HTTPMethods | HTTPMethods[], url: string) =>
    server.route({
      method,
      url,
      // Before the body is read. The other server checks the credentials.
      onRequest: hand,
      handler: () => {},
    })
  for (const name of endpointNames) if (!handlers[name]) add(endpoints[name].method, toRoute(endpoints[name]))
  for (const prefix of ['/media', '/recording']) add(methods, `${prefix}/*`)
  server.register(async (scope) => {
    scope.addHook('onRequest', (request, reply, done) => {
      if (request.raw.serverName === ownName) done()
      else hand(request, reply).catch(done)
    })
    registerRecorded(scope)
  })
}
