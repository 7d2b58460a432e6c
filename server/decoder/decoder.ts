// Decodes key frames to JPEGs in separate processes. A frame that crashes or hangs FFmpeg costs one image, and an
// expensive frame delays only its own camera.

import { availableParallelism } from 'node:os'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { Timer } from '../base/timer.ts'
import { DecodeQueue } from './decode-queue.ts'
import { DecoderProcessHandle } from './decoder-process-handle.ts'
import { type DecodeReply, type DecodeRequest, maxSizes } from './decoder-protocol.ts'
import type { Isolation } from './isolation/isolation.ts'
import { maxMessageBytes } from './message-stream.ts'

export type DecoderOptions = {
  readonly log: Logger
  readonly clock: Clock
  readonly isolation: Isolation
  /** Default: one per core and at least two, so that a frame that hangs one process does not stop all decoding. */
  readonly processes?: number
  /**
   * Memory limit of each process beyond the needs of Node itself, where the system supports limits. Default: 1 GB,
   * which is enough for frames of 40 megapixels in several sizes.
   */
  readonly memoryBytes?: number
  /** When decoding takes longer, the process is killed and restarted. */
  readonly timeoutMs?: number
  /** A process is stopped after this time without work. */
  readonly idleMs?: number
  /** Maximum number of waiting requests; further requests are rejected. */
  readonly maxPending?: number
  /** Maximum size of the waiting requests in bytes. */
  readonly maxPendingBytes?: number
}

/**
 * `source` is the camera; cameras are served in turn. `viewers` are the users that want the image, who are served in
 * turn as well; the set may grow while the request waits. Default: no viewers.
 */
export type ImageRequest = DecodeRequest & {
  readonly source?: number | string | undefined
  readonly viewers?: ReadonlySet<number>
}

export type DecoderStats = {
  readonly isRunning: boolean
  /** Process id of the first running process. */
  readonly pid: number | undefined
  readonly processes: number
  readonly pending: number
  /** Key frames decoded, images created from them, and the total time. */
  readonly decodes: number
  readonly images: number
  readonly busyMs: number
  /** Key frames that could not be decoded. */
  readonly corrupt: number
  /** Requests rejected because too many were waiting, or because a frame of their camera was lost a short while ago. */
  readonly refused: number
  /** Number of times that a process died, or was killed because it hung. */
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

type Slot = { readonly process: DecoderProcessHandle; readonly isQuickOnly: boolean; job: Job | undefined }

/** Time limit for a frame in the process reserved for quick frames while others wait. */
const maxQuickMs = 2000
/** Whether it gets processor time is looked at for so long before. */
const quickLookMs = 400

/**
 * Starts processes when there is work and stops them when idle. Viewers and cameras are served in turn, and each camera
 * has one frame decoded at a time.
 */
export class Decoder implements AsyncDisposable {
  readonly #log: Logger
  readonly #clock: Clock
  readonly #queue: DecodeQueue<Job>
  readonly #slots: readonly Slot[]
  /** Limits the frame in the process that is reserved for quick frames. */
  readonly #slowTimer: Timer
  #isClosed = false
  #counts = { decodes: 0, images: 0, busyMs: 0, corrupt: 0, refused: 0, crashes: 0 }

  constructor(options: DecoderOptions) {
    const { log, clock, isolation, timeoutMs = 5000, idleMs = 10_000 } = options
    const { processes = Math.max(2, availableParallelism()) } = options
    const { memoryBytes = 1024 * 1024 * 1024 } = options
    const { maxPending = 64, maxPendingBytes = 64 * 1024 * 1024 } = options
    this.#log = log
    this.#clock = clock
    this.#slowTimer = new Timer(clock)
    this.#queue = new DecodeQueue({ maxPending, maxPendingBytes })
    this.#slots = Array.from({ length: processes }, (_, i) => {
      const isQuickOnly = i === 0 && processes > 1
      const slot: Slot = {
        process: new DecoderProcessHandle({
          clock,
          isolation,
          memoryBytes,
          timeoutMs,
          idleMs,
          onDone: (reply, took) => this.#finish(slot, reply, took),
          onLost: (reason) => this.#noteLoss(reason),
          onFree: () => this.#startNext(),
        }),
        isQuickOnly,
        job: undefined,
      }
      return slot
    })
  }

  /**
   * Returns one JPEG for each of `sizes`, in order. Images keep their aspect ratio and are never enlarged. A frame of
   * an mjpeg camera is returned unchanged where it fits. Rejects with 'corrupt' for a frame that cannot be decoded,
   * with 'unavailable' when too many requests wait, when the process died or hung on this frame or recently on another
   * one of the same source, or when the decoder is closed, and with 'invalid' for more than 64 sizes.
   */
  async decode({ source, viewers = new Set(), ...request }: ImageRequest): Promise<Uint8Array[]> {
    const { codec, config, data, sizes } = request
    if (sizes.length > maxSizes || config.length + data.length > maxMessageBytes / 2) {
      throw new AppError(
        'invalid',
        `expected at most ${maxSizes} sizes and a frame of at most 32 MiB, got ${sizes.length} sizes`,
      )
    }
    if (this.#isClosed) throw closedError()
    if (codec === 'mjpeg' && sizes.every((size) => size.maxWidth === undefined && size.maxHeight === undefined)) {
      return sizes.map(() => data)
    }
    const blockedMs = this.#queue.blockedMs(source, this.#clock.monotonicMs())
    if (blockedMs > 0) {
      this.#counts.refused++
      throw blockedError(blockedMs)
    }
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array[]>()
    const refused = this.#queue.add({ request, source, viewers, bytes: data.length, resolve, reject })
    this.#counts.refused += refused.length
    for (const job of refused) {
      job.reject(new AppError('unavailable', `the image decoder is busy: ${this.#queue.length} key frames are waiting`))
    }
    this.#startNext()
    return promise
  }

  /** Rejects all waiting requests and ends the processes. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#slowTimer.stop()
    const jobs = [...this.#slots.flatMap(({ job }) => job ?? []), ...this.#queue.drain()]
    for (const slot of this.#slots) slot.job = undefined
    for (const job of jobs) job.reject(closedError())
    await Promise.all(this.#slots.map((slot) => slot.process.close()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  stats(): DecoderStats {
    const pids = this.#slots.flatMap((slot) => slot.process.pid ?? [])
    return {
      isRunning: pids.length > 0,
      pid: pids[0],
      processes: pids.length,
      pending: this.#queue.length + this.#slots.filter(({ job }) => job).length,
      ...this.#counts,
    }
  }

  /** Gives work to free processes, first to those that are already running. */
  #startNext(): void {
    if (this.#isClosed) return
    const free = this.#slots.filter((slot) => slot.process.isFree)
    const running = free.filter((slot) => slot.process.pid !== undefined)
    for (const slot of new Set([...running, ...free])) this.#startOn(slot)
    if (this.#queue.length > 0) this.#watchSlow()
  }

  #startOn(slot: Slot): void {
    const job = this.#queue.take(this.#clock.monotonicMs(), slot)
    if (!job) return
    slot.job = job
    slot.process.start(job.request)
  }

  /** Kills a quick process that has become slow, so that other quick cameras do not wait for the regular timeout. */
  #watchSlow(): void {
    const [quick] = this.#slots
    const busyMs = quick?.process.busyMs
    if (!quick?.isQuickOnly || busyMs === undefined || this.#slowTimer.isRunning) return
    this.#slowTimer.start(Math.max(0, maxQuickMs - quickLookMs - busyMs), () => {
      const wait = quick.process.watchWait()
      this.#slowTimer.start(quickLookMs, () => {
        const busyMs = quick.process.busyMs ?? 0
        if (!this.#queue.hasQuick(this.#clock.monotonicMs())) return
        // Another frame has begun meanwhile, or the machine has no processor for this one.
        if (busyMs < maxQuickMs || wait?.isLacking()) this.#watchSlow()
        else quick.process.kill(`no answer in ${Math.round(busyMs)} ms`)
      })
    })
  }

  #finish(slot: Slot, reply: DecodeReply | undefined, { ms, reason }: { ms: number; reason: string }): void {
    const { job } = slot
    slot.job = undefined
    if (!job) return
    const nowMs = this.#clock.monotonicMs()
    const cost = reply ? { cpuMs: reply.cpuMs, isLost: false } : { cpuMs: ms, isLost: true }
    const blockedJobs = this.#queue.finish(job, cost, nowMs)
    for (const waiting of blockedJobs) waiting.reject(blockedError(this.#queue.blockedMs(job.source, nowMs)))
    this.#counts.refused += blockedJobs.length
    if (!reply) {
      job.reject(new AppError('unavailable', `the image decoder process was lost on this key frame: ${reason}`))
      return
    }
    this.#counts.busyMs += ms
    if ('error' in reply) {
      this.#counts.corrupt++
      job.reject(new AppError('corrupt', `the key frame could not be decoded: ${reply.error}`))
    } else {
      this.#counts.decodes++
      this.#counts.images += reply.jpegs.length
      job.resolve(reply.jpegs)
    }
  }

  #noteLoss(reason: string): void {
    this.#counts.crashes++
    this.#log.warn({ reason }, 'an image decoder process was lost and will be restarted')
  }
}

function closedError(): AppError {
  return new AppError('unavailable', 'the image decoder is closed')
}

function blockedError(ms: number): AppError {
  const seconds = Math.ceil(ms / 1000)
  return new AppError(
    'unavailable',
    `a key frame of this camera stopped the image decoder; images are available again in ${seconds} s`,
  )
}
