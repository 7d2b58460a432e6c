// One connection to a camera from resolving its name to its loss: negotiates, feeds the stream, keeps the session alive, watches that
// pictures come. Reconnecting is camera-session.ts.

import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import { writeReceiverReport } from '../media/rtp/receiver-report.ts'
import { writeInterleaved } from '../media/rtsp/interleaved.ts'
import type { AddressGuard } from './address-guard.ts'
import { CameraError, toCameraError } from './camera-error.ts'
import { CameraStream, type CameraStreamOptions } from './camera-stream.ts'
import { parseCameraUrl } from './camera-url.ts'
import { withDeadline } from './deadline.ts'
import type { Credentials } from './rtsp-auth.ts'
import { RtspClient } from './rtsp-client.ts'
import { RtspConnection } from './rtsp-connection.ts'
import { type DescribedStream, describeStream, playSession, setupTrack, type TrackChannels } from './rtsp-session.ts'

export type CameraConnectionOptions = Omit<CameraStreamOptions, 'plan'> & {
  readonly url: string
  readonly credentials: Credentials | undefined
  readonly addressGuard: AddressGuard
  readonly clock: Clock
  readonly log: Logger
  readonly readBuffer: Uint8Array
  readonly signal: AbortSignal
  readonly limits: ConnectionLimits
  /** The stream is set up; its first frame may follow. */
  onStream(stream: CameraStream): void
}

export type ConnectionLimits = {
  readonly connectMs: number
  readonly responseMs: number
  /** Longest time without a picture. */
  readonly pictureMs: number
  /** Longest wait for the first key frame. */
  readonly keyFrameMs: number
}

export const defaultLimits: ConnectionLimits = {
  connectMs: 10_000,
  responseMs: 10_000,
  pictureMs: 10_000,
  keyFrameMs: 60_000,
}

/** Always ends by throwing: the CameraError that tells why it was lost, or the signal's reason. */
export async function runCameraConnection(options: CameraConnectionOptions): Promise<never> {
  const { clock, signal, limits, addressGuard } = options
  const url = parseCameraUrl(options.url)
  const host = `${url.host}:${url.port}`
  const onLate = () =>
    new CameraError(
      'camera_unreachable',
      `The camera at ${host} did not answer within ${limits.connectMs / 1000} s: check that it is on and its address is right.`,
    )
  const connect = { ms: limits.connectMs, clock, signal, onLate }
  const address = await withDeadline(addressGuard.resolve(url.host, url.port), connect)
  const routes = new Map<number, (bytes: Uint8Array, start: number, end: number) => void>()
  using connection = new RtspConnection({
    url,
    address,
    readBuffer: options.readBuffer,
    onPacket: (channel, bytes, start, end) => routes.get(channel)?.(bytes, start, end),
  })
  await withDeadline(connection.opened, connect)
  const { credentials } = options
  const client = new RtspClient({ connection, credentials, clock, signal, responseTimeoutMs: limits.responseMs })
  const described = await describeStream(client, url.requestUrl)
  const video = await setupTrack(client, described, described.plan.video.control, 0)
  const heard = await setupAudio(client, described)
  const isMute = heard instanceof CameraError
  const audio = isMute ? undefined : heard
  const plan = isMute ? { ...described.plan, audio: undefined, audioProblem: heard.message } : described.plan
  if (plan.audioProblem) options.log.info({ problem: plan.audioProblem }, 'camera sound is left out')
  const stream = new CameraStream({ ...options, plan })
  routes.set(video.rtp, (bytes, start, end) => stream.takeVideoPacket(bytes, start, end))
  if (audio) routes.set(audio.rtp, (bytes, start, end) => stream.takeAudioPacket(bytes, start, end))
  options.onStream(stream)
  try {
    const { videoTime, audioTime } = await playSession(client, described, video, audio)
    if (videoTime !== undefined && audioTime !== undefined) stream.alignAudio(videoTime, audioTime)
    return await watch({ options, connection, client, described, stream, video })
  } catch (error) {
    if (signal.aborted) await leave(client, connection, described.sessionUrl, clock)
    throw error
  } finally {
    options.stats.receivedBytes += connection.receivedBytes
    stream.collectStats()
  }
}

/** The channels of the sound, undefined when there is none to take; a camera that refuses it can still be watched. */
async function setupAudio(
  client: RtspClient,
  described: DescribedStream,
): Promise<TrackChannels | CameraError | undefined> {
  if (!described.plan.audio) return undefined
  try {
    return await setupTrack(client, described, described.plan.audio.control, 1)
  } catch (error) {
    if (error instanceof CameraError && error.reason === 'no_frames') return error
    throw error
  }
}

type Watched = {
  readonly options: CameraConnectionOptions
  readonly connection: RtspConnection
  readonly client: RtspClient
  readonly described: DescribedStream
  readonly stream: CameraStream
  readonly video: TrackChannels
}

const tickMs = 2500

/** Looks after a playing session until it is lost. */
async function watch({ options, connection, client, described, stream, video }: Watched): Promise<never> {
  const { clock, signal, limits, stats } = options
  const startedMs = clock.monotonicMs()
  const ownSsrc = (Math.imul(startedMs, 2654435761) >>> 0) + 1
  const keepAliveMs = Math.max(tickMs, Math.min(30_000, (client.session?.timeoutMs ?? 60_000) / 2))
  let keptAliveMs = startedMs
  let pictures = 0
  let pictureMs = startedMs
  // One signal for the whole session: a race with long-lived promises at every tick would keep every tick in memory.
  const lost = new AbortController()
  const ended = AbortSignal.any([signal, lost.signal])
  void connection.closed.then((error) => lost.abort(error))
  for (;;) {
    await clock.sleep(tickMs, ended)
    const nowMs = clock.monotonicMs()
    stats.receivedBytes += connection.receivedBytes
    connection.receivedBytes = 0
    stream.collectStats()
    if (stream.pictures !== pictures) {
      pictures = stream.pictures
      pictureMs = nowMs
    }
    checkPictures(stream, nowMs - pictureMs, nowMs - startedMs, limits)
    if (nowMs - keptAliveMs < keepAliveMs) continue
    keptAliveMs = nowMs
    const { videoReceiver } = stream
    if (videoReceiver.ssrc !== undefined) {
      const { lostPackets, header } = videoReceiver
      const report = { ownSsrc, senderSsrc: videoReceiver.ssrc, lostPackets, highestSequence: header.sequence }
      connection.send(writeInterleaved(video.rtcp, writeReceiverReport(report)))
    }
    const method = described.canGetParameter ? 'GET_PARAMETER' : 'OPTIONS'
    client.request(method, described.sessionUrl).catch((error) => {
      if (isEndOfSession(error)) lost.abort(error)
    })
  }
}

/** A camera that answers keep-alive with an error has still heard it; only silence and a lost login end the session. */
function isEndOfSession(error: unknown): boolean {
  return toCameraError(error).reason !== 'no_frames'
}

function checkPictures(stream: CameraStream, silentMs: number, playingMs: number, limits: ConnectionLimits): void {
  if (silentMs >= limits.pictureMs) {
    const detail =
      stream.pictures === 0
        ? `The camera accepted the connection but sent no picture within ${limits.pictureMs / 1000} s: restart the camera if it stays so.`
        : `The camera stopped sending pictures for ${Math.round(silentMs / 1000)} s.`
    throw new CameraError('no_frames', detail)
  }
  if (!stream.isRunning && playingMs >= limits.keyFrameMs) {
    const what = stream.hasParameterSets ? 'no key frame' : 'no parameter sets'
    const detail = `The camera sent ${what} within ${limits.keyFrameMs / 1000} s: set a key frame interval of a few seconds in the camera.`
    throw new CameraError('no_frames', detail)
  }
}

/** Ends the session in good order, so that the camera does not keep it for a minute; waits half a second for that. */
async function leave(client: RtspClient, connection: RtspConnection, sessionUrl: string, clock: Clock): Promise<void> {
  client.sendTeardown(sessionUrl)
  connection.end()
  await Promise.race([connection.closed, clock.sleep(500)])
}
