// Supervises a playing RTSP session: checks that frames arrive, keeps the session alive, and sends and follows RTCP
// reports.

import { repeat } from '../../base/repeat.ts'
import { convertRtpTime } from '../../media/rtp/rtcp.ts'
import type { ConnectedOptions } from '../connection/connection-options.ts'
import type { RtspTransport } from '../connection/transport-choice.ts'
import type { CameraStream } from '../frames/camera-stream.ts'
import { FrameWatch } from '../frames/frame-watch.ts'
import { CameraError, toCameraError } from '../network/camera-error.ts'
import type { RtspClient } from './rtsp-client.ts'
import type { RtspConnection } from './rtsp-connection.ts'
import type { TrackReports } from './track-reports.ts'
import type { TrackTransport } from './track-transport.ts'

/** A track after SETUP. `reports` is set when the stream has been created. */
export type RtspTrack = {
  readonly url: string
  readonly transport: TrackTransport
  reports: TrackReports | undefined
}

export type PlayingSession = Pick<ConnectedOptions, 'context' | 'signal' | 'limits' | 'stats' | 'memory'> & {
  readonly connection: RtspConnection
  readonly client: RtspClient
  readonly keepAlive: { readonly target: string; readonly publicMethods: readonly string[] }
  readonly kind: RtspTransport
  readonly stream: CameraStream
  readonly video: RtspTrack
  readonly audio: RtspTrack | undefined
  /** The monotonic time at which PLAY was sent. */
  readonly startedMs: number
}

const tickMs = 2500
/** A camera that sends no frames is asked so often whether it is there. */
const askMs = 5000
const udpReportMs = 5000

/** Always throws: a CameraError with the reason for which the session was lost, or the signal's reason. */
export async function watchRtspSession(session: PlayingSession): Promise<never> {
  const { context, client, connection, stream, startedMs, signal, limits, stats } = session
  const { clock } = context
  const watch = new FrameWatch(limits, startedMs)
  const sessionMs = client.session?.timeoutMs ?? 60_000
  const keepAliveMs = Math.max(tickMs, Math.min(30_000, sessionMs / 2))
  const reportMs = session.kind === 'udp' ? udpReportMs : keepAliveMs
  let keptAliveMs = startedMs
  let answeredMs = startedMs
  let reportedMs = startedMs
  // One signal for the whole session: racing long-lived promises at every tick would leak memory.
  const lost = new AbortController()
  const ended = AbortSignal.any([signal, lost.signal])
  void connection.closed.then((error) => lost.abort(error))
  const tick = () => {
    const nowMs = clock.monotonicMs()
    stats.receivedBytes += connection.receivedBytes
    connection.receivedBytes = 0
    stream.tick()
    stream.collectStats()
    checkPackets(session, nowMs - startedMs)
    const counts = { frames: stream.frames, published: stream.published }
    const missing = {
      what: stream.hasParameterSets ? 'no key frame' : 'no parameter sets',
      hint: 'set a key frame interval of a few seconds in the camera',
    }
    watch.check(counts, nowMs, missing, answeredMs)
    followReports(session)
    if (nowMs - reportedMs >= reportMs) {
      reportedMs = nowMs
      sendReports(session)
    }
    if (nowMs - keptAliveMs < (watch.silentMs(nowMs) >= askMs ? askMs : keepAliveMs)) return
    keptAliveMs = nowMs
    void keepAlive(session, lost).then((isAnswered) => {
      if (isAnswered) answeredMs = clock.monotonicMs()
    })
  }
  await repeat(tick, { clock, signal: ended, intervalMs: tickMs, isDelayed: true })
  throw ended.reason
}

function checkPackets({ stream, video, kind, limits: { udpMs } }: PlayingSession, playingMs: number): void {
  const { packets } = stream.videoReceiver
  if (video.reports?.endedAtPackets === packets) throw new CameraError('no_frames', 'The camera ended its stream.')
  if (kind === 'tcp' || packets > 0 || playingMs < udpMs) return
  const detail = `The camera sends over UDP, but no packet arrived within ${udpMs / 1000} s: enable RTSP over TCP in the camera, or allow UDP in the firewall.`
  throw new CameraError('no_frames', detail)
}

/** Aligns audio and video by the sender reports of both, which refer to the same clock of the camera. */
function followReports({ stream, video, audio }: PlayingSession): void {
  const videoReport = video.reports?.takeSender()
  const audioReport = audio?.reports?.sender
  if (!videoReport || !audioReport || !stream.audio) return
  const audioTime = convertRtpTime(videoReport, audioReport, stream.audio.plan.clockRate)
  if (audioTime !== undefined) stream.audio.follow(videoReport.rtpTime, audioTime)
}

function sendReports({ video, audio }: PlayingSession): void {
  for (const track of [video, audio]) {
    const report = track?.reports?.write()
    if (track && report) track.transport.sendReport(report)
  }
}

/**
 * Sends a keep-alive request. If it is not answered or fails, the next one uses another method. Only a refused login
 * ends the session, because the frames show whether the session is alive. Returns whether the camera answered anything.
 */
async function keepAlive(session: PlayingSession, lost: AbortController): Promise<boolean> {
  const { client, connection, memory, signal } = session
  const method = memory.keepAlive.chooseMethod(session.keepAlive.publicMethods)
  try {
    await client.request(method, session.keepAlive.target)
    return true
  } catch (error) {
    if (signal.aborted || !connection.isOpen) return false
    const { reason, status } = toCameraError(error)
    if (reason === 'auth_failed') lost.abort(error)
    else memory.keepAlive.noteFailure()
    return status !== undefined
  }
}
