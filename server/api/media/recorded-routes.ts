// Recorded streams: /recording/streams/{id}/…, authorized by the unguessable id. The playback provides playlist and
// files; this file serves them over HTTP, with ranges (RFC 9110 section 14).

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { RateLimits } from '../../auth/guard/rate-limits.ts'
import { AppError } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import type { MediaBytes } from '../../playback/media-bytes.ts'
import { sendEmpty } from '../answer.ts'
import type { Recorded } from '../deps.ts'
import type { HandOn } from '../forwarding.ts'
import { refuse } from '../path-camera.ts'
import { HttpError } from '../problem.ts'
import { readBody, readQuery } from '../read-fields.ts'
import { readJson } from '../read-json.ts'
import { sentBody } from '../request-body.ts'
import { isKnown } from '../static-bytes.ts'
import type { OpenStreams } from './open-streams.ts'
import { sendBytes, startMedia, unbuffered } from './send-media.ts'
import { sendFile } from './send-stream.ts'

export type RecordedRoutesOptions = {
  readonly recorded: Pick<
    Recorded,
    'checkAccess' | 'isActive' | 'playlist' | 'openBytes' | 'openDownload' | 'play' | 'pause' | 'setSpeed'
  >
  readonly streams: OpenStreams
  readonly limits: Pick<RateLimits, 'takeAddress' | 'giveBackAddress'>
  /** Undefined where no other server has cameras. */
  readonly handOn?: HandOn | undefined
  readonly log: Logger
}

const base = '/recording/streams/:stream_id'

const DownloadIn = Type.Object({
  filename: Type.Optional(Type.String({ maxLength: 200 })),
  gaps: Type.Optional(Type.Enum(['skip', 'keep'])),
})

const SpeedIn = Type.Object({ speed: Type.Optional(Type.Number()) })

export function registerRecordedRoutes(server: FastifyInstance, options: RecordedRoutesOptions): void {
  server.register(async (scope) => defineRoutes(scope, options))
}

function defineRoutes(
  server: FastifyInstance,
  { recorded, streams, limits, handOn, log }: RecordedRoutesOptions,
): void {
  // Ids are looked up in the database, and anybody may send some: unknown ids count against the address until they have
  // proved valid.
  server.addHook('onRequest', async (request, reply) => {
    const id = idOf(request)
    if (!recorded.isActive(id)) {
      limits.takeAddress(request.clientIp)
      await recorded.checkAccess(id)
      limits.giveBackAddress(request.clientIp)
    }
    if (handOn) await handOn(request, reply, (await recorded.checkAccess(id)).cameraId)
    refuse(request)
  })

  server.get(`${base}/hls/playlist.m3u8`, async (request, reply) => {
    const playlist = await recorded.playlist(idOf(request))
    sendBytes(reply, 'application/vnd.apple.mpegurl', Buffer.from(playlist))
  })

  server.get(`${base}/hls/:file`, async (request, reply) => {
    const id = idOf(request)
    const { file } = request.params as { file: string }
    const bytes = await recorded.openBytes(id, file, rangeOf(request))
    await sendBytesOf(request, reply, id, bytes)
  })

  server.get(`${base}/download.mp4`, async (request, reply) => {
    const id = idOf(request)
    await recorded.checkAccess(id) // 404 before 400
    const { filename = 'recording.mp4', gaps } = readQuery(DownloadIn, request.query as string) as Static<
      typeof DownloadIn
    >
    const { range } = request.headers
    const ifRange = request.headers['if-range']?.toString()
    const isGet = request.method === 'GET'
    // A slow disk, or a queue of downloads, is no client that stalls.
    reply.raw.setTimeout(0)
    const bytes = await recorded.openDownload(id, gaps === 'keep', isGet ? { range, ifRange } : {})
    // Before ranges (RFC 9110 section 13.2.2).
    if (isKnown(request.headers['if-none-match'], bytes.etag)) {
      if (bytes.status !== 416) await bytes.body[Symbol.asyncDispose]()
      sendEmpty(reply, 304, { etag: bytes.etag })
      return
    }
    await sendBytesOf(request, reply, id, bytes, {
      etag: bytes.etag,
      'content-disposition': `attachment; filename="${filename.replaceAll(/[^\w.() -]/g, '_')}"; filename*=UTF-8''${encodeName(filename)}`,
    })
  })

  const sendBytesOf = async (
    request: FastifyRequest,
    reply: FastifyReply,
    id: string,
    bytes: MediaBytes,
    own: Record<string, string> = {},
  ) => {
    if (bytes.status === 416) {
      const headers = { 'content-range': `bytes */${bytes.totalBytes}` }
      throw new HttpError(416, 'range_not_satisfiable', 'No byte of the file is in this range.', headers)
    }
    const { status, firstByte, lastByte, totalBytes, body } = bytes
    const signal = await addStream(reply, id, body)
    const response = startMedia(reply, status, 'video/mp4', {
      ...own,
      'accept-ranges': 'bytes',
      ...unbuffered,
      'content-length': lastByte - firstByte + 1,
      ...(status === 206 && { 'content-range': `bytes ${firstByte}-${lastByte}/${totalBytes}` }),
    })
    if (request.method === 'HEAD') {
      await body[Symbol.asyncDispose]()
      response.end()
      return
    }
    await sendFile(response, body, { signal, log })
  }

  const addStream = async (reply: FastifyReply, id: string, body: AsyncDisposable): Promise<AbortSignal> => {
    try {
      const { userId } = await recorded.checkAccess(id)
      // Counted separately from live streams: a person who was given the URL of a recorded stream takes nothing from
      // those.
      return streams.add(reply.raw, `recordings of user ${userId}`, () => mayWatch(recorded, id))
    } catch (error) {
      await body[Symbol.asyncDispose]() // it holds a file open
      throw error
    }
  }

  const control = (name: string, change: (id: string, request: FastifyRequest) => Promise<void>) =>
    server.post(`${base}/${name}/`, async (request: FastifyRequest, reply: FastifyReply) => {
      await change(idOf(request), request)
      sendEmpty(reply, 204)
    })
  control('play', (id) => recorded.play(id))
  control('pause', (id) => recorded.pause(id))
  control('speed', async (id, request) => {
    await recorded.checkAccess(id) // 404 before 400
    await recorded.setSpeed(id, readSpeed(request))
  })
}

/** RFC 8187 3.2.1. */
const encodeName = (name: string): string =>
  encodeURIComponent(name).replaceAll(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

const idOf = (request: FastifyRequest): string => (request.params as { stream_id: string }).stream_id

/**
 * Only GET has ranges (RFC 9110 section 14.2). The files have no validators, so If-Range never matches, and the whole
 * file is sent (section 13.1.5).
 */
function rangeOf({ method, headers }: FastifyRequest): string | undefined {
  return method === 'GET' && headers['if-range'] === undefined ? headers.range : undefined
}

/**
 * The playback checks access each time and hides the stream from viewers who lost it. Throws if access cannot be
 * checked.
 */
async function mayWatch(recorded: Pick<Recorded, 'checkAccess'>, id: string): Promise<boolean> {
  try {
    await recorded.checkAccess(id)
    return true
  } catch (error) {
    if (error instanceof AppError && error.kind === 'not_found') return false
    throw error
  }
}

/** From the query or the body; 1 by default. */
function readSpeed(request: FastifyRequest): number {
  type Fields = Static<typeof SpeedIn>
  const { speed } = readQuery(SpeedIn, request.query as string) as Fields
  return speed ?? (readBody(SpeedIn, readJson(sentBody(request))) as Fields).speed ?? 1
}
