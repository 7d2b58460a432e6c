// Live views of a camera: /media/cameras/{id}/…, authorized only by the signed token in the URL.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { MediaGrant, MediaKind, MediaTokens } from '../../auth/media-token.ts'
import { AppError } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import type { Store } from '../../store/store.ts'
import type { CameraAccess } from '../camera-access.ts'
import type { HlsPosition, Live, PeerDeps, Snapshots } from '../deps.ts'
import { mediaFiles, mediaPath } from '../media-urls.ts'
import { refuse } from '../path-camera.ts'
import { HttpError } from '../problem.ts'
import { awaitFirstChunk } from './first-chunk.ts'
import { mjpegContentType, writeMultipart } from './multipart.ts'
import type { OpenStreams } from './open-streams.ts'
import { sendBytes, sendShared, startMedia, unbuffered } from './send-media.ts'
import { sendStream } from './send-stream.ts'
import { tokenOf } from './token-of.ts'

export type LiveRoutesOptions = {
  readonly tokens: Pick<MediaTokens, 'verify'>
  readonly access: CameraAccess
  readonly cameras: Pick<Store['cameras'], 'find'>
  readonly live: Live
  readonly snapshots: Snapshots
  readonly streams: OpenStreams
  /** Undefined where no other server may get the camera. */
  readonly peers?: Pick<PeerDeps, 'follow'> | undefined
  readonly log: Logger
}

/** What is requested, by whom, and how to respond. */
type Viewing = {
  readonly grant: MediaGrant
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Reads the camera, which requests for segments need not. */
  readonly isOffline: () => Promise<boolean>
}

type Respond = (viewing: Viewing) => Promise<void>

/** The status is updated a moment after the camera is back. */
const offlineWaitMs = 500

export function registerLiveRoutes(server: FastifyInstance, options: LiveRoutesOptions): void {
  const { tokens, access, cameras, live, snapshots, streams, peers, log } = options

  const route = (kind: MediaKind, file: string, respond: Respond) =>
    server.get(`/media/cameras/:camera_id/${file}`, async (request, reply) => {
      const { camera_id } = request.params as { camera_id: string }
      const grant = tokens.verify(tokenOf(request), { kind, cameraId: Number(camera_id) })
      if (!(await access.isGranted(grant))) throw new AppError('forbidden', 'access to this camera was revoked')
      refuse(request)
      // The camera may take longer to its next key frame than other requests to their answer; each wait has its limit.
      reply.raw.setTimeout(0)
      await access.markViewed(grant.userId, grant.cameraId)
      const isOffline = async () => (await cameras.find(grant.cameraId))?.status === 'offline'
      try {
        await respond({ grant, request, reply, isOffline })
      } catch (error) {
        throw isUnavailable(error) && (await isOffline()) ? cameraOffline() : error
      }
    })

  /** Counts the stream for the viewer. The signal aborts when the viewer disconnects or loses access. */
  const enter = (grant: MediaGrant, reply: FastifyReply) =>
    streams.add(reply.raw, `user ${grant.userId}`, () => access.isGranted(grant))

  /** For a request that may have to wait for what comes next. */
  const hold = (grant: MediaGrant, reply: FastifyReply) => ({
    account: grant.userId,
    signal: enter(grant, reply),
  })

  const stream =
    (
      type: string,
      open: (
        grant: MediaGrant,
        options: { signal: AbortSignal; waitMs: number | undefined },
      ) => AsyncIterable<Uint8Array>,
      wrap: (chunks: AsyncIterable<Uint8Array>, request: FastifyRequest) => AsyncIterable<Uint8Array> = (chunks) =>
        chunks,
      follow?: PeerDeps['follow'],
    ): Respond =>
    async ({ grant, request, reply, isOffline }) => {
      if (request.method === 'HEAD') {
        if (await isOffline()) throw new AppError('unavailable', 'the camera is offline')
        startMedia(reply, 200, type).end()
        return
      }
      const signal = enter(grant, reply)
      const goOn = follow?.(request, reply.raw, grant.cameraId)
      const { all } = await awaitFirstChunk(open(grant, { signal, waitMs: await waitFor(isOffline) }))
      await sendStream(startMedia(reply, 200, type, unbuffered), wrap(all, request), { signal, log, goOn })
    }

  route(
    'mjpeg',
    mediaFiles.mjpeg,
    stream(
      mjpegContentType,
      // Waits for an offline camera too, because an `<img>` does not retry.
      ({ cameraId, view, userId }, { signal }) => live.camera(cameraId).openMjpeg({ ...view, account: userId, signal }),
      // Only browsers that show the images are late by one (see multipart.ts), and they say what they request.
      (images, { headers }) => writeMultipart(images, headers['sec-fetch-dest'] === 'image'),
      peers?.follow,
    ),
  )
  const mp4 = stream('video/mp4', ({ cameraId }, options) => live.camera(cameraId).openViewer('mp4', options))
  route('mp4', mediaFiles.mp4, async (viewing) => {
    const { grant, request, reply, isOffline } = viewing
    const tracks = new URLSearchParams(request.query as string).get('tracks')
    if (request.method === 'HEAD' || (tracks !== 'video' && tracks !== 'video,audio')) return mp4(viewing)
    const signal = enter(grant, reply)
    const options = { hasAudio: tracks === 'video,audio', signal, waitMs: await waitFor(isOffline) }
    const { first, all } = await awaitFirstChunk(live.camera(grant.cameraId).openMseViewer(options))
    // The page compares it with the times of the frames.
    const headers = { ...unbuffered, 'nightjar-clock': Date.now() }
    const response = startMedia(reply, 200, `video/mp4; codecs="${first.codecs}"`, headers)
    await sendStream(response, dataOf(all), { signal, log })
  })
  route(
    'mpegts',
    mediaFiles.mpegts,
    stream('video/mp2t', ({ cameraId }, options) => live.camera(cameraId).openViewer('mpegts', options)),
  )
  route('live_snapshot', mediaFiles.live_snapshot, async ({ grant, reply, isOffline }) => {
    const options = { account: grant.userId, signal: enter(grant, reply), waitMs: await waitFor(isOffline) }
    const { jpeg } = await live.camera(grant.cameraId).snapshot(grant.view, options)
    sendShared(reply, 'image/jpeg', jpeg)
  })
  route('snapshot', mediaFiles.snapshot, async ({ grant, reply }) => {
    const kept = await snapshots.find(grant.cameraId)
    if (!kept) throw new AppError('not_found', 'there is no snapshot of this camera yet')
    sendBytes(reply, 'image/jpeg', kept.jpeg)
  })
  route('hls', mediaFiles.hls, async ({ grant, request, reply, isOffline }) => {
    // The playlist repeats its token in segment URLs, because players do not add it.
    const token = encodeURIComponent(tokenOf(request))
    const segmentUrl = (name: string) => `${mediaPath(grant.cameraId, `hls/${name}`)}?token=${token}`
    const query = new URLSearchParams(request.query as string)
    const until = readPosition(query)
    // A player that comes back for more has its camera already.
    const options = until
      ? { until, isEarly: true, ...hold(grant, reply) }
      : { isEarly: query.get('start') === 'early', waitMs: await waitFor(isOffline) }
    const playlist = await live.camera(grant.cameraId).hlsPlaylist(segmentUrl, options)
    sendBytes(reply, 'application/vnd.apple.mpegurl', Buffer.from(playlist))
  })
  route('hls', 'hls/:name', async ({ grant, request, reply }) => {
    const { name } = request.params as { name: string }
    sendShared(reply, 'video/mp4', await live.camera(grant.cameraId).hlsSegment(name, hold(grant, reply)))
  })
}

/** What a low-latency player waits for. RFC 8216bis 6.2.5.2. */
function readPosition(query: URLSearchParams): HlsPosition | undefined {
  const read = (name: string): number | undefined => {
    const text = query.get(name)
    if (text === null) return undefined
    if (/^\d{1,15}$/.test(text)) return Number(text)
    throw new AppError('invalid', `${name} must be a number of a segment or part`)
  }
  const sequence = read('_HLS_msn')
  const part = read('_HLS_part')
  if (sequence !== undefined) return { sequence, part }
  if (part !== undefined) throw new AppError('invalid', '_HLS_part is the number of a part and requires _HLS_msn')
  return undefined
}

async function* dataOf(chunks: AsyncIterable<{ readonly data: Uint8Array }>): AsyncGenerator<Uint8Array> {
  for await (const { data } of chunks) yield data
}

const waitFor = async (isOffline: Viewing['isOffline']): Promise<number | undefined> =>
  (await isOffline()) ? offlineWaitMs : undefined

const isUnavailable = (error: unknown): boolean => error instanceof AppError && error.kind === 'unavailable'

/** The reason is not included, because media URLs are passed on; the owner sees it in the camera's `status_reason`. */
function cameraOffline(): HttpError {
  return new HttpError(503, 'unavailable', 'The camera is offline.', { 'retry-after': '5' })
}
