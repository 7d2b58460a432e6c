// A camera that sends one container stream in the response to one request. This module owns the connection. The
// container is read elsewhere (server/decoder/container), and its tracks are handled like those of RTSP.

import type { IncomingMessage } from 'node:http'
import { repeat } from '../../base/repeat.ts'
import type {
  ContainerEnd,
  ContainerPacket,
  ContainerReader,
  ContainerTracks,
} from '../../media/container/container-stream.ts'
import type { ContainerFormat } from '../../media/container/find-container.ts'
import type { ConnectedOptions } from '../connection/connection-options.ts'
import { CameraStream, type CameraStreamOptions } from '../frames/camera-stream.ts'
import { FrameWatch } from '../frames/frame-watch.ts'
import { CameraError } from '../network/camera-error.ts'
import { type ContainerPlan, planContainer } from '../plan/container-plan.ts'
import type { VideoPlan } from '../plan/video-plan.ts'
import { BareTimes } from './bare-times.ts'
import { endOnThrow } from './end-on-throw.ts'
import { describeHttpError } from './http-client.ts'

const tickMs = 2500

/** Always throws: a CameraError with the reason for which the camera was lost, or the signal's reason. */
export async function runContainerCamera(
  response: IncomingMessage,
  format: ContainerFormat,
  reader: ContainerReader,
  options: ConnectedOptions,
): Promise<never> {
  const { context, signal, stats, limits, url } = options
  const { clock } = context
  const ended = new AbortController()
  const over = AbortSignal.any([signal, ended.signal])
  const onFailure = (error: unknown) => ended.abort(error)
  using session = new ContainerSession({ ...options, onFailure })
  await using input = reader.open(format, {
    onTracks: (tracks) => endOnThrow(ended, () => session.begin(tracks)),
    onPacket: (packet) => endOnThrow(ended, () => session.take(packet)),
    onEnd: (end) => ended.abort(describeEnd(end)),
    onDrain: () => response.resume(),
  })
  response.on('data', (bytes: Uint8Array) => {
    stats.receivedBytes += bytes.length
    endOnThrow(ended, () => {
      if (!input.push(bytes)) response.pause()
    })
  })
  response.on('end', () => endOnThrow(ended, () => input.end()))
  response.on('error', (error) => ended.abort(describeHttpError(error, url)))
  response.resume()
  const frames = new FrameWatch(limits, clock.monotonicMs())
  try {
    const check = () => {
      session.stream?.tick()
      session.stream?.collectStats()
      frames.check(session, clock.monotonicMs(), session.missing)
    }
    await repeat(check, { clock, signal: over, intervalMs: tickMs, isDelayed: true })
    signal.throwIfAborted()
    throw ended.signal.reason
  } finally {
    response.destroy()
  }
}

type ContainerSessionOptions = ConnectedOptions & Pick<CameraStreamOptions, 'onFailure'>

/** One container stream, from the time its tracks are known. */
class ContainerSession implements Disposable {
  readonly #options: ContainerSessionOptions
  #plan: ContainerPlan | undefined
  stream: CameraStream | undefined
  #isTimed = false
  #bareTimes: BareTimes | undefined
  #last90k = Number.NEGATIVE_INFINITY

  constructor(options: ContainerSessionOptions) {
    this.#options = options
  }

  get frames(): number {
    return this.stream?.frames ?? 0
  }

  get published(): number {
    return this.stream?.published ?? 0
  }

  get missing() {
    return {
      what: this.stream?.hasParameterSets ? 'no key frame' : 'no parameter sets',
      hint: 'set a key frame interval of a few seconds in the camera',
    }
  }

  /** @throws CameraError if the container has no track that can be used */
  begin(tracks: ContainerTracks): void {
    const plan = planContainer(tracks)
    const { context, memory, onLearned } = this.#options
    if (plan.audioProblem)
      context.log.info({ problem: plan.audioProblem }, "the camera's audio is not supported and is dropped")
    this.#plan = plan
    this.stream = new CameraStream({ ...this.#options, ...context, plan, runLimit: memory.runLimit })
    onLearned?.({ plan })
  }

  take({ kind, pts90k, data }: ContainerPacket): void {
    const { stream } = this
    if (!stream || !this.#plan) return
    if (kind === 'audio') {
      if (pts90k !== undefined) stream.takeAudioPayload(data, pts90k)
      return
    }
    const units = this.#plan.listNalUnits(data)
    if (units.length === 0) stream.markLoss()
    // In a stream with timestamps, a frame without one directly follows the previous frame.
    this.#isTimed ||= pts90k !== undefined
    const at90k = pts90k ?? (this.#isTimed ? this.#last90k + 1 : this.#placeBare(units, this.#plan.video))
    this.#last90k = at90k
    stream.takeAccessUnit(units, at90k)
  }

  #placeBare(units: readonly Uint8Array[], { codec, parameterSets }: VideoPlan): number {
    if (!this.#bareTimes) {
      this.#bareTimes = new BareTimes(codec === 'h265' ? 'h265' : 'h264')
      this.#bareTimes.takeSets(parameterSets)
    }
    return this.#bareTimes.take(units, Math.round(this.#options.arrivalClock.nowMs() * 90))
  }

  [Symbol.dispose](): void {
    const { stream } = this
    if (!stream) return
    stream[Symbol.dispose]()
    stream.collectStats()
    this.#options.memory.lastWallMs = stream.lastWallMs
  }
}

function describeEnd(end: ContainerEnd): CameraError {
  switch (end.kind) {
    case 'ended':
      return new CameraError('camera_unreachable', 'The camera ended its stream.')
    case 'changed':
      return new CameraError('stream_changed', 'The camera started another stream on the same connection.')
    case 'no_video': {
      const detail = 'The stream at this URL contains no video: check the path, and enable video in the camera.'
      return new CameraError('no_frames', detail, { problem: 'no_video' })
    }
    case 'too_much': {
      const detail = 'The camera sends a stream that needs too much memory: restart the camera if the problem persists.'
      return new CameraError('no_frames', detail)
    }
    case 'unreadable': {
      const detail =
        'The camera sends a stream that cannot be read: it is damaged, or it is a file that was not prepared for streaming.'
      return new CameraError('no_frames', detail, { problem: 'unsupported' })
    }
    case 'busy': {
      const detail = `The server already reads ${end.limit} container streams, which is the maximum: use the RTSP URL of this camera.`
      return new CameraError('overload', detail, { problem: 'busy' })
    }
    case 'lost': {
      const detail = 'The process that reads the stream of this camera ended unexpectedly.'
      return new CameraError('no_frames', detail, { cause: new Error(end.reason) })
    }
  }
}
