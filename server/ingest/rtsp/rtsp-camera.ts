// One RTSP connection to a camera: sets up its session and feeds the stream. rtsp-watch.ts supervises the session.

import { settlesWithin, withDeadline } from '../../base/deadline.ts'
import type { ConnectedOptions } from '../connection/connection-options.ts'
import type { RtspTransport } from '../connection/transport-choice.ts'
import { CameraStream } from '../frames/camera-stream.ts'
import { CameraError, toCameraError } from '../network/camera-error.ts'
import { InterleavedTracks } from './interleaved-tracks.ts'
import { RtspClient } from './rtsp-client.ts'
import { RtspConnection } from './rtsp-connection.ts'
import { type DescribedStream, describeStream, playSession, setupTrack } from './rtsp-session.ts'
import { type RtspTrack, watchRtspSession } from './rtsp-watch.ts'
import { TrackReports } from './track-reports.ts'
import type { TrackHandler, TrackTransport } from './track-transport.ts'
import { openUdpTrack } from './udp-track.ts'

/** Always throws: a CameraError with the reason for which the camera was lost, or the signal's reason. */
export async function runRtspCamera(options: ConnectedOptions): Promise<never> {
  const { context, url, signal, limits } = options
  const { clock, reads, tap } = context
  const interleaved = new InterleavedTracks()
  using connection = new RtspConnection({
    url,
    address: options.address,
    reads,
    tap,
    onPacket: (channel, bytes, start, end) => interleaved.take(channel, bytes, start, end),
    isPacket: (channel, bytes, start, end) => interleaved.isPacket(channel, bytes, start, end),
    isExpected: (channel, bytes, start, end) => interleaved.isExpected(channel, bytes, start, end),
    onSkipped: () => {
      options.stats.badPackets++
    },
  })
  await withDeadline(connection.opened, {
    ms: limits.connectMs,
    clock,
    signal,
    onLate: () => describeLateConnect(options),
  })
  const client = new RtspClient({
    connection,
    credentials: options.credentials,
    clock,
    signal,
    responseTimeoutMs: limits.responseMs,
  })
  const described = await describeStream(client, url.requestUrl)
  options.onLearned?.({ plan: described.plan })
  await using session = new RtspCameraSession(options, connection, client, described, interleaved)
  return await session.run()
}

function describeLateConnect({ url, limits }: ConnectedOptions): CameraError {
  const detail = `The camera at ${url.host}:${url.port} did not answer within ${limits.connectMs / 1000} s: check that the camera is switched on and that its IP address is right.`
  return new CameraError('camera_unreachable', detail, { isUnreachable: true, problem: 'timed_out' })
}

const leaveMs = 500

class RtspCameraSession implements AsyncDisposable {
  readonly #options: ConnectedOptions
  readonly #connection: RtspConnection
  readonly #client: RtspClient
  readonly #described: DescribedStream
  readonly #interleaved: InterleavedTracks
  readonly #ownSsrc: number
  readonly #cleanUp = new DisposableStack()
  #sessionUrl: string
  #kind: RtspTransport
  #stream: CameraStream | undefined
  #video: RtspTrack | undefined
  #audio: RtspTrack | undefined

  constructor(
    options: ConnectedOptions,
    connection: RtspConnection,
    client: RtspClient,
    described: DescribedStream,
    interleaved: InterleavedTracks,
  ) {
    this.#options = options
    this.#connection = connection
    this.#client = client
    this.#described = described
    this.#interleaved = interleaved
    this.#sessionUrl = described.sessionUrls[0]!
    // With TLS, UDP is not used, because the frames would be sent unencrypted.
    this.#kind = options.url.isTls ? 'tcp' : options.memory.transport.next
    this.#ownSsrc = (Math.imul(options.context.clock.monotonicMs(), 2654435761) >>> 0) + 1
  }

  async run(): Promise<never> {
    const { plan } = this.#described
    this.#video = await this.#setUpVideo()
    const audio = await this.#setUpAudio()
    const isMute = audio instanceof CameraError
    if (!isMute) this.#audio = audio
    const stream = new CameraStream({
      ...this.#options,
      ...this.#options.context,
      runLimit: this.#options.memory.runLimit,
      plan: isMute ? { ...plan, audio: undefined, audioProblem: audio.message } : plan,
      onFailure: (error) => this.#connection.fail(toCameraError(error)),
    })
    this.#stream = stream
    this.#cleanUp.use(stream)
    const problem = isMute ? audio.message : plan.audioProblem
    if (problem) this.#options.context.log.info({ problem }, "the camera's audio is not supported and is dropped")
    this.#video.reports = this.#createReports(stream.videoReceiver)
    if (this.#audio && stream.audio) this.#audio.reports = this.#createReports(stream.audio.receiver)
    const startedMs = this.#options.context.clock.monotonicMs()
    const played = await playSession(this.#client, this.#described, this.#video.url, this.#audio?.url)
    this.#sessionUrl = played.sessionUrl
    this.#options.onSetUp()
    this.#options.onLearned?.({ transport: `rtsp_${this.#kind}` })
    const { videoTime, audioTime } = played
    if (videoTime !== undefined && audioTime !== undefined) stream.alignAudio(videoTime, audioTime)
    try {
      return await watchRtspSession({
        ...this.#options,
        connection: this.#connection,
        client: this.#client,
        keepAlive: { target: this.#sessionUrl, publicMethods: this.#described.publicMethods },
        kind: this.#kind,
        stream,
        video: this.#video,
        audio: this.#audio,
        startedMs,
      })
    } catch (error) {
      this.#learnFrom(error, stream, this.#options.context.clock.monotonicMs() - startedMs)
      throw error
    }
  }

  /** Ends the session with TEARDOWN, so that the camera does not keep it open for a minute, and waits briefly. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { context, stats, memory } = this.#options
    const { clock } = context
    if (this.#connection.isOpen && this.#client.session) {
      this.#client.sendTeardown(this.#sessionUrl)
      this.#connection.end()
      await settlesWithin(this.#connection.closed, leaveMs, clock)
    }
    stats.receivedBytes += this.#connection.receivedBytes
    this.#cleanUp.dispose()
    if (!this.#stream) return
    this.#stream.collectStats()
    memory.lastWallMs = this.#stream.lastWallMs
  }

  async #setUpVideo(): Promise<RtspTrack> {
    const { video } = this.#described.plan
    const handler = this.#createHandler(
      video.payloadType,
      (bytes, start, end) => this.#stream?.takeVideoPacket(bytes, start, end),
      () => this.#video,
    )
    try {
      return await this.#setUp(video.control, 0, handler)
    } catch (error) {
      const isRefused = error instanceof CameraError && error.status === 461
      if (!isRefused || this.#options.url.isTls) throw error
      // The camera will refuse this transport again, so the next connection begins with the other one.
      this.#options.memory.transport.noteFailure(this.#kind)
      this.#kind = this.#kind === 'tcp' ? 'udp' : 'tcp'
      this.#options.context.log.info({ transport: this.#kind }, 'the camera requires another transport')
      return this.#setUp(video.control, 0, handler)
    }
  }

  /**
   * Returns undefined if there is no audio. A camera that refuses audio is used without it, so the error is returned.
   */
  async #setUpAudio(): Promise<RtspTrack | CameraError | undefined> {
    const { audio } = this.#described.plan
    if (!audio) return undefined
    const handler = this.#createHandler(
      audio.payloadType,
      (bytes, start, end) => this.#stream?.takeAudioPacket(bytes, start, end),
      () => this.#audio,
    )
    try {
      return await this.#setUp(audio.control, 1, handler)
    } catch (error) {
      if (error instanceof CameraError && error.reason === 'no_frames') return error
      throw error
    }
  }

  #createHandler(payloadType: number, onRtp: TrackHandler['onRtp'], track: () => RtspTrack | undefined): TrackHandler {
    return { payloadType, onRtp, onRtcp: (bytes, start, end) => track()?.reports?.take(bytes, start, end) }
  }

  async #setUp(control: string | undefined, index: number, handler: TrackHandler): Promise<RtspTrack> {
    const transport = this.#cleanUp.use(await this.#openTransport(index, handler))
    const url = await setupTrack(this.#client, this.#described, control, transport)
    return { url, transport, reports: undefined }
  }

  async #openTransport(index: number, handler: TrackHandler): Promise<TrackTransport> {
    const { context, address, stats } = this.#options
    const { clock, reads, tap } = context
    const connection = this.#connection
    const { localAddress } = connection
    if (this.#kind === 'tcp' || localAddress === undefined) {
      return this.#interleaved.open(index, handler, (bytes) => connection.send(bytes))
    }
    const onFailure = (error: unknown) => connection.fail(toCameraError(error))
    return openUdpTrack({
      camera: address,
      localAddress,
      handler,
      ownSsrc: this.#ownSsrc,
      stats,
      clock,
      reads,
      tap,
      track: index,
      onFailure,
    })
  }

  #createReports(receiver: CameraStream['videoReceiver']): TrackReports {
    const { clock } = this.#options.context
    return new TrackReports(receiver, this.#ownSsrc, () => clock.monotonicMs())
  }

  #learnFrom(error: unknown, { videoReceiver: { packets } }: CameraStream, ageMs: number): void {
    const { memory, signal, url } = this.#options
    if (signal.aborted) return
    memory.keepAlive.noteLoss(ageMs, this.#client.session?.timeoutMs ?? 60_000)
    const isSilent = packets === 0 && toCameraError(error).reason === 'no_frames'
    if (isSilent && !url.isTls) memory.transport.noteFailure(this.#kind)
  }
}
