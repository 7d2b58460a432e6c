// Sets up one RTSP session: OPTIONS, DESCRIBE, SETUP for each track, and PLAY (RFC 2326).

import { findHeader, type RtspResponse } from '../../media/rtsp/message.ts'
import { parseRtpInfo } from '../../media/rtsp/transport.ts'
import { parseSdp } from '../../media/sdp/parse-sdp.ts'
import type { Sdp } from '../../media/sdp/sdp.ts'
import { CameraError } from '../network/camera-error.ts'
import { planStreams, type StreamPlan } from '../plan/stream-plan.ts'
import { listControlUrls, resolveBase } from './control-url.ts'
import type { RtspClient } from './rtsp-client.ts'
import type { TrackTransport } from './track-transport.ts'

export type DescribedStream = {
  readonly plan: StreamPlan
  /** The URL that control URLs are relative to. */
  readonly baseUrl: string
  /** Possible URLs of the whole session for PLAY, keep-alive and TEARDOWN, the most likely one first. */
  readonly sessionUrls: readonly string[]
  /** The methods that the camera lists as supported. */
  readonly publicMethods: readonly string[]
}

/** RTP timestamps of the moment at which PLAY begins, by track; undefined if the camera does not send them. */
export type PlayInfo = {
  readonly sessionUrl: string
  readonly videoTime: number | undefined
  readonly audioTime: number | undefined
}

/** Requests the description and plans the tracks. @throws CameraError if the camera offers nothing that is supported */
export async function describeStream(client: RtspClient, requestUrl: string): Promise<DescribedStream> {
  const publicMethods = await listMethods(client, requestUrl)
  const described = await client.request('DESCRIBE', requestUrl, [['Accept', 'application/sdp']])
  const sdp = readSdp(described)
  const { headers } = described
  const baseUrl = resolveBase(
    findHeader(headers, 'Content-Base') ?? findHeader(headers, 'Content-Location'),
    requestUrl,
  )
  return {
    plan: planStreams(sdp),
    baseUrl,
    sessionUrls: [...new Set([...listControlUrls(baseUrl, sdp.control), baseUrl, requestUrl])],
    publicMethods,
  }
}

/** If a camera refuses OPTIONS, the session is set up without the list. */
async function listMethods(client: RtspClient, requestUrl: string): Promise<string[]> {
  try {
    const { headers } = await client.request('OPTIONS', requestUrl)
    return (findHeader(headers, 'Public') ?? '').toUpperCase().split(/[\s,]+/)
  } catch (error) {
    const isRefused = error instanceof CameraError && error.status !== undefined && error.reason === 'no_frames'
    if (isRefused) return []
    throw error
  }
}

function readSdp(response: RtspResponse): Sdp {
  try {
    return parseSdp(new TextDecoder().decode(response.body))
  } catch (error) {
    const detail = "The camera's description of the stream cannot be read: check the path of the URL."
    throw new CameraError('no_frames', detail, { cause: error, kind: 'corrupt', problem: 'no_such_stream' })
  }
}

/** Sets up one track over `transport` and returns its URL. */
export async function setupTrack(
  client: RtspClient,
  { baseUrl }: DescribedStream,
  control: string | undefined,
  transport: TrackTransport,
): Promise<string> {
  const urls = listControlUrls(baseUrl, control)
  const { response, url } = await client.requestAny('SETUP', urls, [['Transport', transport.offer]])
  transport.accept(findHeader(response.headers, 'Transport'))
  return url
}

/** Starts the session's tracks. Packets may arrive before the response. */
export async function playSession(
  client: RtspClient,
  stream: DescribedStream,
  videoUrl: string,
  audioUrl: string | undefined,
): Promise<PlayInfo> {
  const { response, url } = await client.requestAny('PLAY', stream.sessionUrls, [['Range', 'npt=0.000-']])
  const entries = parseRtpInfo(findHeader(response.headers, 'RTP-Info') ?? '')
  const timeOf = (track: string) =>
    entries.find(({ url }) => listControlUrls(stream.baseUrl, url).includes(track) || track.endsWith(`/${url}`))
      ?.rtpTime
  return {
    sessionUrl: url,
    videoTime: timeOf(videoUrl),
    audioTime: audioUrl === undefined ? undefined : timeOf(audioUrl),
  }
}
