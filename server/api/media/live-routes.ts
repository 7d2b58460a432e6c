// The live pictures of a camera: /media/cameras/{id}/…, opened by the signed token in the URL and by nothing else.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { MediaGrant, MediaKind, MediaTokens } from '../../auth/media-token.ts'
import { AppError } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import type { CameraAccess } from '../camera-access.ts'
import type { Live, Snapshots } from '../deps.ts'
import { mediaFiles, mediaPath } from '../media-urls.ts'
import { awaitFirstPiece } from './first-piece.ts'
import { mjpegContentType, writeMultipart } from './multipart.ts'
import type { OpenStreams } from './open-streams.ts'
import { sendBytes, startMedia } from './send-media.ts'
import { sendStream } from './send-stream.ts'

export type LiveRoutesOptions = {
  readonly tokens: Pick<MediaTokens, 'verify'>
  readonly access: CameraAccess
  readonly live: Live
  readonly snapshots: Snapshots
  readonly streams: OpenStreams
  readonly log: Logger
}

type Respond = (grant: MediaGrant, request: FastifyRequest, reply: FastifyReply) => Promise<void>

export function registerLiveRoutes(server: FastifyInstance, options: LiveRoutesOptions): void {
  const { tokens, access, live, snapshots, streams, log } = options

  const route = (kind: MediaKind, file: string, respond: Respond) =>
    server.get(`/media/cameras/:camera_id/${file}`, async (request, reply) => {
      const { camera_id } = request.params as { camera_id: string }
      const grant = tokens.verify(tokenOf(request), { kind, cameraId: Number(camera_id) })
      if (!(await access.isGranted(grant))) throw new AppError('forbidden', 'the right to watch was withdrawn')
      await respond(grant, request, reply)
    })

  const stream =
    (
      type: string,
      open: (grant: MediaGrant, signal: AbortSignal) => AsyncIterable<Uint8Array>,
      wrap: (pieces: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array> = (pieces) => pieces,
    ): Respond =>
    async (grant, request, reply) => {
      if (request.method === 'HEAD') {
        startMedia(reply, 200, type).end()
        return
      }
      const signal = streams.add(reply.raw, () => access.isGranted(grant))
      const pieces = await awaitFirstPiece(open(grant, signal))
      await sendStream(startMedia(reply, 200, type), wrap(pieces), { signal, log })
    }

  route(
    'mjpeg',
    mediaFiles.mjpeg,
    stream(
      mjpegContentType,
      ({ cameraId, view }, signal) => live.openMjpeg(cameraId, { ...view, signal }),
      writeMultipart,
    ),
  )
  route(
    'mp4',
    mediaFiles.mp4,
    stream('video/mp4', ({ cameraId }, signal) => live.openViewer(cameraId, 'mp4', { signal })),
  )
  route(
    'mpegts',
    mediaFiles.mpegts,
    stream('video/mp2t', ({ cameraId }, signal) => live.openViewer(cameraId, 'mpegts', { signal })),
  )
  route('live_snapshot', mediaFiles.live_snapshot, async (grant, _request, reply) => {
    const { jpeg } = await live.snapshot(grant.cameraId, grant.view)
    sendBytes(reply, 'image/jpeg', jpeg)
  })
  route('snapshot', mediaFiles.snapshot, async (grant, _request, reply) => {
    const kept = await snapshots.find(grant.cameraId)
    if (!kept) throw new AppError('not_found', 'there is no picture of this camera yet')
    sendBytes(reply, 'image/jpeg', kept.jpeg)
  })
  route('hls', mediaFiles.hls, async (grant, request, reply) => {
    // The playlist hands its token on: players fetch segments without being told of it.
    const token = encodeURIComponent(tokenOf(request))
    const segmentUrl = (name: string) => `${mediaPath(grant.cameraId, `hls/${name}`)}?token=${token}`
    const playlist = await live.hlsPlaylist(grant.cameraId, segmentUrl)
    sendBytes(reply, 'application/vnd.apple.mpegurl', Buffer.from(playlist))
  })
  route('hls', 'hls/:name', async (grant, request, reply) => {
    const { name } = request.params as { name: string }
    sendBytes(reply, name.endsWith('.ts') ? 'video/mp2t' : 'video/mp4', await live.hlsSegment(grant.cameraId, name))
  })
}

/** Of a repeated token the last counts; none is as good as a wrong one. */
function tokenOf(request: FastifyRequest): string {
  return new URLSearchParams(request.query as string).getAll('token').at(-1) ?? ''
}
