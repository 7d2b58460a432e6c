// What a camera's answer to GET holds, by its first bytes: what its Content-Type says is often wrong. They are put
// back, so that whoever reads the body reads it from its start, and lets it flow.

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

/** Answers that say they are these are, as far as it matters here. */
const plainTypes = /^\s*(multipart\/|image\/|text\/html)/i

/**
 * Undefined when it can't be said.
 * @throws CameraError when it is something known that is not taken, the signal's reason when it aborts
 */
export async function findContent(
  response: IncomingMessage,
  { context, signal, limits, url }: ConnectedOptions,
): Promise<FoundContent | undefined> {
  if (plainTypes.test(response.headers['content-type'] ?? '')) return undefined
  const looked = new Promise<FoundContent | undefined>((resolve, reject) => {
    let head: Buffer = Buffer.alloc(0)
    const look = (bytes: Buffer) => {
      head = Buffer.concat([head, bytes])
      const content = findContainer(head)
      if (!content && head.length < maxProbeBytes) return
      response.off('data', look)
      response.pause()
      response.unshift(head)
      resolve(content)
    }
    response.on('data', look)
    response.on('end', () => resolve(undefined))
    response.on('error', (error) => reject(describeHttpError(error, url)))
  })
  const onLate = () =>
    new CameraError(
      'no_frames',
      `The camera accepted the connection but sent no picture within ${limits.pictureMs / 1000} s: restart the camera if it stays so.`,
    )
  const content = await withDeadline(looked, { ms: limits.pictureMs, clock: context.clock, signal, onLate })
  if (content?.kind !== 'other') return content
  throw new CameraError('no_frames', otherContents[content.content], { trouble: 'unsupported' })
}

const otherContents: { readonly [content in OtherContent]: string } = {
  hls: 'The camera answered with a playlist (HLS), whose addresses are not followed: enter the address of the stream itself, RTSP or HTTP.',
  dash: 'The camera answered with a playlist (DASH), whose addresses are not followed: enter the address of the stream itself, RTSP or HTTP.',
  sdp: 'The camera answered with the description of a stream (SDP), not with the stream: enter its rtsp:// address.',
  rtsp: 'The camera answered with a reference to another address, which is not followed: enter that address.',
  program_stream:
    'The camera sends an MPEG program stream, which is not supported: choose RTSP, MPEG-TS or MJPEG in the camera.',
  avi: 'The camera sends an AVI file, which is not supported: choose RTSP, MPEG-TS or MJPEG in the camera.',
  asf: 'The camera sends Windows Media (ASF), which is not supported: choose RTSP, MPEG-TS or MJPEG in the camera.',
  ogg: 'The camera sends Ogg, which is not supported: choose RTSP, MPEG-TS or MJPEG in the camera.',
}
