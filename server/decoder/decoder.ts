// Key frames to JPEGs, in processes of their own: a frame that crashes or hangs FFmpeg costs that one picture, never the server, and
// one that takes long keeps its own camera waiting.

import { availableParallelism } from 'node:os'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { DecodeQueue } from './decode-queue.ts'
import { DecoderLane } from './decoder-lane.ts'
import { type DecodeReply, type DecodeRequest, maxSizes } from './decoder-protocol.ts'
import type { Isolation } from './isolation/isolation.ts'
import { maxMessageBytes } from './message-stream.ts'

export type DecoderOptions = {
  readonly log: Logger
  readonly clock: Clock
  readonly isolation: Isolation
  /** Default: one for each core, at least two, so that a frame that hangs one of them does not stop all. */
  readonly processes?: number
  /** What each may take beyond its runtime, where that is limited. Default: a gigabyte, room for frames of 40 million pixels in several sizes. */
  readonly memoryBytes?: number
  /** A decode that takes longer is given up and the process restarted. */
  readonly timeoutMs?: number
  /** A process is stopped after this time without work. */
  readonly idleMs?: number
  /** Requests that may wait; one more is refused. */
  readonly maxPending?: number
  /** Bytes of the requests that may wait. */
  readonly maxPendingBytes?: number
}

/**
 * `source`: the camera; those with one take turns. `viewers`: who wants pictures of it, who take turns as well; may grow while it waits,
 * nobody unless given.
 */
export type ImageRequest = DecodeRequest & {
  readonly source?: number | string | undefined
  readonly viewers?: ReadonlySet<number>
}

export type DecoderStats = {
  readonly isRunning: boolean
  /** Of the first that runs. */
  readonly pid: number | undefined
  readonly processes: number
  readonly pending: number
  /** Key frames decoded, pictures made of them, and the time that took in all. */
  readonly decodes: number
  readonly pictures: number
  readonly busyMs: number
  /** Key frames that could not be decoded. */
  readonly corrupt: number
  /** Requests refused because too many waited, or because a frame of their camera was lost a short while ago. */
  readonly refused: number
  /** Times a process died or was killed because it hung. */
  readonly crashes: number
}

type Job = {
  readonly request: DecodeRequest
  readonly source: number | string | undefined
  readonly viewers: ReadonlySet<number>
  readonly bytes: number
  readonly resolve: (jpegs: Uint8Array[]) => void
  readonly reject: (error: AppError) => void
}

type Lane = { readonly process: DecoderLane; readonly isQuickOnly: boolean; job: Job | undefined }

/** How long a frame may take in the process that is kept for quick ones while others of these wait. */
const maxQuickMs = 2000

/** Starts its processes when there is work, stops them when idle. Viewers and cameras take turns; each camera has one frame decoded at a time. */
export class Decoder implements AsyncDisposable {
  readonly #log: Logger
  readonly #clock: Clock
  readonly #queue: DecodeQueue<Job>
  readonly #lanes: readonly Lane[]
  readonly #closing = new AbortController()
  #isWatching = false
  #counts = { decodes: 0, pictures: 0, busyMs: 0, corrupt: 0, refused: 0, crashes: 0 }

  constructor(options: DecoderOptions) {
    const { log, clock, isolation, timeoutMs = 5000, idleMs = 10_000 } = options
    const { processes = Math.max(2, availableParallelism()) } = options
    const { memoryBytes = 1024 * 1024 * 1024 } = options
    const { maxPending = 64, maxPendingBytes = 64 * 1024 * 1024 } = options
    this.#log = log
    this.#clock = clock
    this.#queue = new DecodeQueue({ maxPending, maxPendingBytes })
    this.#lanes = Array.from({ length: processes }, (_, i) => {
      const isQuickOnly = i === 0 && processes > 1
      const lane: Lane = {
        process: new DecoderLane({
          clock,
          isolation,
          memoryBytes,
          timeoutMs,
          idleMs,
          onDone: (reply, took) => this.#finish(lane, reply, took),
          onLost: (reason) => this.#noteLoss(reason),
          onFree: () => this.#next(),
        }),
        isQuickOnly,
        job: undefined,
      }
      return lane
    })
  }

  /**
   * One JPEG for each of `sizes`, in order: aspect kept, never enlarged. The picture of an mjpeg camera is returned as it is where
   * it fits. Rejects with 'corrupt' for a frame that cannot be decoded, 'unavailable' when too many wait, the process died or
   * hung over this frame or a short while ago over another of the same source, or the decoder is closed, 'invalid' for more than 64
   * sizes.
   */
  async decode({ source, viewers = new Set(), ...request }: ImageRequest): Promise<Uint8Array[]> {
    const { codec, config, data, sizes } = request
    if (sizes.length > maxSizes || config.length + data.length > maxMessageBytes / 2) {
      throw new AppError('invalid', `expected at most ${maxSizes} sizes of a frame below 32 MiB, got ${sizes.length}`)
    }
    if (this.#closing.signal.aborted) throw closed()
    if (codec === 'mjpeg' && sizes.every((size) => size.maxWidth === undefined && size.maxHeight === undefined)) {
      return sizes.map(() => data)
    }
    const blockedMs = this.#queue.blockedMs(source, this.#clock.monotonicMs())
    if (blockedMs > 0) {
      this.#counts.refused++
      throw blocked(blockedMs)
    }
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array[]>()
    const refused = this.#queue.add({ request, source, viewers, bytes: data.length, resolve, reject })
    this.#counts.refused += refused.length
    for (const job of refused) {
      job.reject(new AppError('unavailable', `the picture decoder is busy: ${this.#queue.length} key frames wait`))
    }
    this.#next()
    return promise
  }

  /** Rejects what waits and ends the processes. */
  async close(): Promise<void> {
    this.#closing.abort()
    const jobs = [...this.#lanes.flatMap(({ job }) => job ?? []), ...this.#queue.drain()]
    for (const lane of this.#lanes) lane.job = undefined
    for (const job of jobs) job.reject(closed())
    await Promise.all(this.#lanes.map((lane) => lane.process.close()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  stats(): DecoderStats {
    const pids = this.#lanes.flatMap((lane) => lane.process.pid ?? [])
    return {
      isRunning: pids.length > 0,
      pid: pids[0],
      processes: pids.length,
      pending: this.#queue.length + this.#lanes.filter(({ job }) => job).length,
      ...this.#counts,
    }
  }

  /** Gives work to whoever is free: first to processes that run already. */
  #next(): void {
    if (this.#closing.signal.aborted) return
    const free = this.#lanes.filter((lane) => lane.process.isFree)
    const running = free.filter((lane) => lane.process.pid !== undefined)
    for (const lane of new Set([...running, ...free])) this.#startOn(lane)
    if (this.#queue.length > 0) this.#watchSlow()
  }

  #startOn(lane: Lane): void {
    const job = this.#queue.take(this.#clock.monotonicMs(), lane)
    if (!job) return
    lane.job = job
    lane.process.start(job.request)
  }

  /** A camera whose pictures were quick may have become slow: the other quick cameras do not wait for it until the usual limit. */
  #watchSlow(): void {
    const [quick] = this.#lanes
    const busyMs = quick?.process.busyMs
    if (!quick?.isQuickOnly || busyMs === undefined || this.#isWatching) return
    this.#isWatching = true
    this.#clock.sleep(Math.max(0, maxQuickMs - busyMs), this.#closing.signal).then(
      () => {
        this.#isWatching = false
        const isSlow = (quick.process.busyMs ?? 0) >= maxQuickMs
        if (isSlow && this.#queue.hasQuick(this.#clock.monotonicMs())) {
          quick.process.giveUp(`no answer in ${maxQuickMs} ms`)
        }
      },
      () => {}, // closed
    )
  }

  #finish(lane: Lane, reply: DecodeReply | undefined, { ms, reason }: { ms: number; reason: string }): void {
    const { job } = lane
    lane.job = undefined
    if (!job) return
    const nowMs = this.#clock.monotonicMs()
    const spent = reply ? { cpuMs: reply.cpuMs, isLost: false } : { cpuMs: ms, isLost: true }
    const blockedJobs = this.#queue.finish(job, spent, nowMs)
    for (const waiting of blockedJobs) waiting.reject(blocked(this.#queue.blockedMs(job.source, nowMs)))
    this.#counts.refused += blockedJobs.length
    if (!reply) {
      job.reject(new AppError('unavailable', `the picture decoder was lost over this key frame: ${reason}`))
      return
    }
    this.#counts.busyMs += ms
    if ('error' in reply) {
      this.#counts.corrupt++
      job.reject(new AppError('corrupt', `the key frame could not be decoded: ${reply.error}`))
    } else {
      this.#counts.decodes++
      this.#counts.pictures += reply.jpegs.length
      job.resolve(reply.jpegs)
    }
  }

  #noteLoss(reason: string): void {
    this.#counts.crashes++
    this.#log.warn({ reason }, 'a picture decoder was lost and is restarted')
  }
}

function closed(): AppError {
  return new AppError('unavailable', 'the picture decoder is closed')
}

function blocked(ms: number): AppError {
  const seconds = Math.ceil(ms / 1000)
  return new AppError('unavailable', `a key frame of this camera stopped the picture decoder: none for ${seconds} s`)
}
