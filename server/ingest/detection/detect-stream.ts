// Tests a camera URL for several seconds: what the camera sends and at which rates, or why nothing arrives. It opens
// one or two normal connections, and does not store or forward anything.

import { randomUUID } from 'node:crypto'
import type { ProblemCode } from '../../../contract/camera-problem.ts'
import type { Clock } from '../../base/clock.ts'
import { errorChain } from '../../base/error.ts'
import { Timer } from '../../base/timer.ts'
import type { VideoCodec } from '../../media/frame.ts'
import { ArrivalClock } from '../clock/arrival-clock.ts'
import { type CameraMemory, createCameraMemory } from '../connection/camera-memory.ts'
import { type ConnectionLimits, defaultLimits, type LearnedStream } from '../connection/connection-options.ts'
import { createCameraStats } from '../frames/camera-stats.ts'
import type { IngestContext } from '../ingest-context.ts'
import { type CameraError, createHiddenError, isAboutAddress, toCameraError } from '../network/camera-error.ts'
import type { AudioPlan } from '../plan/audio-plan.ts'
import { runCameraConnection } from '../session/camera-connection.ts'
import { StreamMeter, type StreamRates } from './stream-meter.ts'

export type DetectionTarget = {
  /** Without user information. */
  readonly url: string
  readonly username: string | undefined
  readonly password: string | undefined
  /** `type`: ends as soon as the tracks are known; `stream`: measures the stream and returns a key frame. */
  readonly depth: 'type' | 'stream'
  /**
   * Whether the user may see everything about a host in a private network. Otherwise the result only says that no
   * frames arrive.
   */
  readonly canSeeProblems: boolean
  /** The path is not known and is to be found, see `findStream`. `url` is then `rtsp://host/`. */
  readonly isHostAlone?: boolean
}

export type DetectedStream = {
  /** Where it was found, without user information, if only the host was known. */
  readonly url?: string
  readonly transport: LearnedStream['transport']
  /** The video track. Sizes and rates are known only if frames arrived. */
  readonly video: DetectedVideo | undefined
  /** The audio as the camera sends it. */
  readonly audio: { readonly codec: string; readonly sampleRate: number; readonly channels: number } | undefined
  readonly audioProblem: string | undefined
  /** Why no frames arrived; undefined if some did, or if they were not waited for. */
  readonly problem: { readonly code: ProblemCode; readonly detail: string } | undefined
}

export type DetectedVideo = Partial<StreamRates> & {
  readonly codec: VideoCodec
  readonly keyFrame: DetectedKeyFrame | undefined
}

export type DetectedKeyFrame = {
  readonly width: number
  readonly height: number
  readonly codecString: string
  /** See `VideoFormat`. */
  readonly config: Uint8Array
  /** A key frame; see `Frame.data`. */
  readonly data: Uint8Array
}

export type DetectStreamOptions = {
  readonly target: DetectionTarget
  readonly context: IngestContext
  readonly signal: AbortSignal
  readonly limits?: Partial<DetectionLimits>
}

export type DetectionLimits = {
  /** For the whole test, without the time to end a session. */
  readonly totalMs: number
  /** From the first frame on. */
  readonly measureMs: number
  /** From the first frame on, if two groups of pictures have come by then. */
  readonly enoughMs: number
}

const defaultTestLimits = {
  type: { totalMs: 3000, measureMs: 0, enoughMs: 0 },
  // Two groups of pictures of a typical camera.
  stream: { totalMs: 10_000, measureMs: 5000, enoughMs: 1900 },
} as const satisfies { [depth in DetectionTarget['depth']]: DetectionLimits }

/** Shorter than those of a known camera, so that there is time for a second attempt. */
const connectionLimits: ConnectionLimits = {
  ...defaultLimits,
  connectMs: 5000,
  responseMs: 5000,
  udpMs: 3000,
  frameMs: 4000,
  answeringMs: 4000,
}

/** How long a session may take to end after the test. */
const leaveMs = 1000

/** Rejects only with the signal's reason, when it aborts. */
export async function detectStream(options: DetectStreamOptions): Promise<DetectedStream> {
  const { context, target, signal } = options
  const { clock } = context
  const limits = { ...defaultTestLimits[target.depth], ...options.limits }
  const startedMs = clock.monotonicMs()
  const test = new StreamTest(target.depth, limits, clock)
  const over = AbortSignal.any([signal, test.done])
  new Timer(clock, over).start(limits.totalMs, () => test.endLate())
  const memory = createCameraMemory()
  let error = await connect(options, test, memory, over)
  // The camera sent nothing over TCP, which is normal for some cameras, so UDP is tried.
  const isSilent = error?.problem === 'no_frames' && memory.transport.next === 'udp'
  if (isSilent && !test.done.aborted) error = await connect(options, test, memory, over)
  test.end()
  signal.throwIfAborted()
  const isAboutHost = test.isBlank && !(error && isAboutAddress(error))
  if (target.canSeeProblems || memory.isPublic || !isAboutHost) return test.describe(error)
  // The delay is always the same, because the real time would reveal the cause.
  await clock.sleep(Math.max(0, startedMs + limits.totalMs + leaveMs - clock.monotonicMs()), signal)
  const { problem, message } = createHiddenError()
  return { ...nothing, problem: { code: problem, detail: message } }
}

const nothing = { transport: undefined, video: undefined, audio: undefined, audioProblem: undefined }

async function connect(
  { context, target: { url, username, password = '' } }: DetectStreamOptions,
  test: StreamTest,
  memory: CameraMemory,
  signal: AbortSignal,
): Promise<CameraError | undefined> {
  const { clock } = context
  const log = context.log.child({ detection: true })
  try {
    return await runCameraConnection({
      url,
      credentials: username ? { username, password } : undefined,
      context: { ...context, log },
      signal,
      limits: connectionLimits,
      memory,
      stats: createCameraStats(),
      arrivalClock: new ArrivalClock(clock),
      floorMs: 0,
      createRunId: randomUUID,
      publish: (item) => test.take(item),
      onRun: () => {},
      onLearned: (learned) => test.learn(learned),
    })
  } catch (thrown) {
    if (signal.aborted) return undefined
    const error = toCameraError(thrown)
    if (error.kind === 'internal') log.error({ cause: errorChain(error) }, 'the connection test failed unexpectedly')
    else log.debug({ problem: error.problem, cause: errorChain(error) }, 'a connection test found no stream')
    return error
  }
}

class StreamTest {
  readonly #depth: DetectionTarget['depth']
  readonly #limits: DetectionLimits
  readonly #clock: Clock
  readonly #meter = new StreamMeter()
  readonly #done = new AbortController()
  #learned: LearnedStream = {}
  #firstMs: number | undefined
  #isLate = false

  constructor(depth: DetectionTarget['depth'], limits: DetectionLimits, clock: Clock) {
    this.#depth = depth
    this.#limits = limits
    this.#clock = clock
  }

  /** Aborts when enough is known, or when the time is over. */
  get done(): AbortSignal {
    return this.#done.signal
  }

  /** True if no camera was found: no stream was described, and no frame arrived. */
  get isBlank(): boolean {
    return this.#learned.plan === undefined && !this.#meter.keyFrame
  }

  learn(learned: LearnedStream): void {
    this.#learned = { ...this.#learned, ...learned }
    if (this.#depth === 'type' && learned.plan) this.end()
  }

  take(item: Parameters<StreamMeter['take']>[0]): void {
    const { done } = this
    if (done.aborted) return
    this.#meter.take(item)
    if (item.kind !== 'video') return
    const nowMs = this.#clock.monotonicMs()
    const { enoughMs } = this.#limits
    if (this.#firstMs === undefined) {
      this.#firstMs = nowMs
      new Timer(this.#clock, done).start(this.#isStill ? 0 : this.#limits.measureMs, () => this.end())
    }
    const isComplete = this.#meter.keys > 1 && this.#meter.spanMs >= enoughMs && nowMs - this.#firstMs >= enoughMs
    if (isComplete) this.end()
  }

  end(): void {
    this.#done.abort()
  }

  endLate(): void {
    this.#isLate = true
    this.end()
  }

  /** `error`: why the last connection was lost; undefined if the test ended it. */
  describe(error: CameraError | undefined): DetectedStream {
    const { plan, transport } = this.#learned
    const video = this.#describeVideo()
    return {
      transport,
      video,
      audio: plan?.audio && describeAudio(plan.audio),
      audioProblem: plan?.audioProblem,
      problem: video?.keyFrame ? undefined : this.#describeProblem(error),
    }
  }

  #describeVideo(): DetectedVideo | undefined {
    const { keyFrame } = this.#meter
    const codec = keyFrame?.format.video.codec ?? this.#learned.plan?.video.codec
    if (codec === undefined) return undefined
    if (!keyFrame) return { codec, keyFrame: undefined }
    const { width, height, codecString, config } = keyFrame.format.video
    const rates = this.#isStill ? {} : this.#meter.rates()
    return { codec, keyFrame: { width, height, codecString, config, data: keyFrame.data }, ...rates }
  }

  #describeProblem(error: CameraError | undefined): DetectedStream['problem'] {
    if (error) return { code: error.problem, detail: error.message }
    if (!this.#isLate) return undefined
    const within = `within ${this.#limits.totalMs / 1000} s`
    return this.#learned.transport === undefined
      ? {
          code: 'timed_out',
          detail: `The camera did not answer ${within}: check that it is switched on and try again.`,
        }
      : {
          code: 'no_frames',
          detail: `The camera answers, but no key frame arrived ${within}: set a key frame interval of a few seconds in the camera.`,
        }
  }

  get #isStill(): boolean {
    return this.#learned.transport === 'http_picture'
  }
}

/** Describes the audio before transcoding. */
function describeAudio({ coding, format }: AudioPlan): NonNullable<DetectedStream['audio']> {
  if (coding.kind === 'telephone') {
    return { codec: coding.source.coding, sampleRate: coding.source.sampleRate, channels: 1 }
  }
  const { codec, sampleRate, channels } = format
  return { codec, sampleRate, channels }
}
