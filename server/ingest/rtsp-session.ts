// Sets up one RTSP session: OPTIONS, DESCRIBE, SETUP for each track, PLAY (RFC 2326), all over one TCP connection.

import { findHeader, type RtspResponse } from '../media/rtsp/message.ts'
import { parseInterleavedTransport, parseRtpInfo, writeInterleavedTransport } from '../media/rtsp/transport.ts'
import { parseSdp } from '../media/sdp/parse-sdp.ts'
import type { Sdp } from '../media/sdp/sdp.ts'
import { CameraError } from './camera-error.ts'
import { resolveControl } from './camera-url.ts'
import type { RtspClient } from './rtsp-client.ts'
import { planStreams, type StreamPlan } from './stream-plan.ts'

export type DescribedStream = {
  readonly plan: StreamPlan
  /** What control URLs are relative to. */
  readonly baseUrl: string
  /** The whole session, for PLAY, keep-alive and TEARDOWN. */
  readonly sessionUrl: string
  readonly canGetParameter: boolean
}

/** Channels of the interleaved connection, as agreed with the camera. */
export type TrackChannels = { readonly rtp: number; readonly rtcp: number; readonly url: string }

/** RTP timestamps of the moment PLAY begins, by track; undefined where the camera does not tell. */
export type PlayInfo = { readonly videoTime: number | undefined; readonly audioTime: number | undefined }

/** Asks what there is and chooses. @throws CameraError when there is nothing we can take */
export async function describeStream(client: RtspClient, requestUrl: string): Promise<DescribedStream> {
  const methods = await listMethods(client, requestUrl)
  const described = await client.request('DESCRIBE', requestUrl, [['Accept', 'application/sdp']])
  const sdp = readSdp(described)
  const base = findHeader(described.headers, 'Content-Base') ?? findHeader(described.headers, 'Content-Location')
  // Some cameras send a relative base, or one without a host.
  const baseUrl = base && /^rtsps?:\/\/[^/]/i.test(base) ? base.trim() : requestUrl
  return {
    plan: planStreams(sdp),
    baseUrl,
    sessionUrl: resolveControl(baseUrl, sdp.control),
    canGetParameter: methods.includes('GET_PARAMETER'),
  }
}

/** Cameras that don't know OPTIONS are asked for their stream all the same. */
async function listMethods(client: RtspClient, requestUrl: string): Promise<string[]> {
  try {
    const { headers } = await client.request('OPTIONS', requestUrl)
    return (findHeader(headers, 'Public') ?? '').toUpperCase().split(/[\s,]+/)
  } catch (error) {
    if (error instanceof CameraError && error.reason === 'no_frames') return []
    throw error
  }
}

function readSdp(response: RtspResponse): Sdp {
  try {
    return parseSdp(new TextDecoder().decode(response.body))
  } catch (error) {
    const detail = 'The camera did not describe its stream in a form that can be read: check the path of the URL.'
    throw new CameraError('no_frames', detail, { cause: error, kind: 'corrupt' })
  }
}

/** Sets up one track; `index` counts the tracks of the session. */
export async function setupTrack(
  client: RtspClient,
  { baseUrl }: DescribedStream,
  control: string | undefined,
  index: number,
): Promise<TrackChannels> {
  const url = resolveControl(baseUrl, control)
  const wanted = { rtpChannel: index * 2, rtcpChannel: index * 2 + 1, ssrc: undefined }
  const response = await client.request('SETUP', url, [['Transport', writeInterleavedTransport(wanted)]])
  const transport = findHeader(response.headers, 'Transport')
  const agreed = transport === undefined ? wanted : parseInterleavedTransport(transport)
  if (!agreed) {
    const detail = 'The camera will not send its stream over the TCP connection: allow RTSP over TCP in the camera.'
    throw new CameraError('no_frames', detail)
  }
  return { rtp: agreed.rtpChannel, rtcp: agreed.rtcpChannel, url }
}

/** Starts the session's tracks. Packets may come before the answer. */
export async function playSession(
  client: RtspClient,
  stream: DescribedStream,
  video: TrackChannels,
  audio: TrackChannels | undefined,
): Promise<PlayInfo> {
  const response = await client.request('PLAY', stream.sessionUrl, [['Range', 'npt=0.000-']])
  const entries = parseRtpInfo(findHeader(response.headers, 'RTP-Info') ?? '')
  const timeOf = (track: TrackChannels | undefined) =>
    track &&
    entries.find(({ url }) => resolveControl(stream.baseUrl, url) === track.url || track.url.endsWith(`/${url}`))
  return { videoTime: timeOf(video)?.rtpTime, audioTime: timeOf(audio)?.rtpTime }
}
