// Detects the content of a camera's response by its first bytes, because its Content-Type is often wrong. The bytes are
// put back, so that the reader of the body receives it from the start.

import type { IncomingMessage } from 'node:http'
import { withDeadline } from '../../base/deadline.ts'
import {
  type FoundContent,
  findContainer,
  maxProbeBytes,
  type OtherContent,
} from '../../media/container/find-container.ts'
import type { ConnectedOptions } from '../connection/connection-options.ts'
import { CameraError } from '../network/camera-error.ts'
import { describeHttpError } from './http-client.ts'

/** For these declared types the content need not be examined. */
const plainTypes = /^\s*(multipart\/|image\/|text\/html)/i

/**
 * Returns undefined if the content is not recognized.
 * @throws CameraError if it is a known format that is not supported, the signal's reason when it aborts
 */
export async function findContent(
  response: IncomingMessage,
  { context, signal, limits, url }: ConnectedOptions,
): Promise<FoundContent | undefined> {
  if (plainTypes.test(response.headers['content-type'] ?? '')) return undefined
  const found = new Promise<FoundContent | undefined>((resolve, reject) => {
    let head: Buffer = Buffer.alloc(0)
    const examine = (bytes: Buffer) => {
      head = Buffer.concat([head, bytes])
      const content = findContainer(head)
      if (!content && head.length < maxProbeBytes) return
      response.off('data', examine)
      response.pause()
      response.unshift(head)
      resolve(content)
    }
    response.on('data', examine)
    response.on('end', () => resolve(undefined))
    response.on('error', (error) => reject(describeHttpError(error, url)))
  })
  const onLate = () =>
    new CameraError(
      'no_frames',
      `The camera accepted the connection but sent no frames within ${limits.frameMs / 1000} s: restart the camera if the problem persists.`,
    )
  const content = await withDeadline(found, { ms: limits.frameMs, clock: context.clock, signal, onLate })
  if (content?.kind !== 'other') return content
  throw new CameraError('no_frames', otherContents[content.content], { problem: 'unsupported' })
}

const otherContents: { readonly [content in OtherContent]: string } = {
  hls: 'The camera answered with an HLS playlist, which is not supported: enter the RTSP or HTTP URL of the stream itself.',
  dash: 'The camera answered with a DASH playlist, which is not supported: enter the RTSP or HTTP URL of the stream itself.',
  sdp: 'The camera answered with the description of a stream (SDP) instead of the stream: enter its rtsp:// URL.',
  rtsp: 'The camera answered with a reference to another URL, which is not followed: enter that URL.',
  program_stream:
    'The camera sends an MPEG program stream, which is not supported: choose RTSP, MPEG-TS or MJPEG in the camera.',
  avi: 'The camera sends an AVI file, which is not supported: choose RTSP, MPEG-TS or MJPEG in the camera.',
  asf: 'The camera sends Windows Media (ASF), which is not supported: choose RTSP, MPEG-TS or MJPEG in the camera.',
  ogg: 'The camera sends Ogg, which is not supported: choose RTSP, MPEG-TS or MJPEG in the camera.',
}
