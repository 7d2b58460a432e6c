// Key frames to JPEGs, in a process of its own: a frame that crashes or hangs FFmpeg costs that one picture, never the server.

import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { Backoff } from '../base/retry.ts'
import { type DecodeReply, type DecodeRequest, maxSizes, parseReply, writeRequest } from './decoder-protocol.ts'
import { MessageChild } from './message-child.ts'
import { maxMessageBytes } from './message-stream.ts'

export type DecoderOptions = {
  readonly log: Logger
  readonly clock: Clock
  /** A decode that takes longer is given up and the process restarted. */
  readonly timeoutMs?: number
  /** The process is stopped after this time without work. */
  readonly idleMs?: number
  /** Requests that may wait; one more is refused. */
  readonly maxPending?: number
  /** Bytes of the requests that may wait. */
  readonly maxPendingBytes?: number
}

export type DecoderStats = {
  readonly isRunning: boolean
  readonly pid: number | undefined
  readonly pending: number
  /** Key frames decoded, pictures made of them, and the time that took in all. */
  readonly decodes: number
  readonly pictures: number
  readonly busyMs: number
  /** Key frames that could not be decoded. */
  readonly corrupt: number
  /** Requests refused because too many waited. */
  readonly refused: number
  /** Times the process died or was killed because it hung. */
  readonly crashes: number
}

type Job = DecodeRequest & {
  readonly resolve: (jpegs: Uint8Array[]) => void
  readonly reject: (error: AppError) => void
}

/** Starts its process with the first request, stops it when idle. Requests are served one at a time, in order. */
export class Decoder implements AsyncDisposable {
  readonly #log: Logger
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #idleMs: number
  readonly #maxPending: number
  readonly #maxPendingBytes: number
  readonly #backoff = new Backoff({ minMs: 200, maxMs: 30_000 })
  readonly #queue: Job[] = []
  #queueBytes = 0
  #child: MessageChild | undefined
  #active: { readonly job: Job; readonly startedMs: number } | undefined
  /** Ends the running timer: the decode's limit, the idle time, or the pause after a failed start. */
  #timer: AbortController | undefined
  #hasAnswered = false
  #isPausing = false
  #isClosed = false
  #counts = { decodes: 0, pictures: 0, busyMs: 0, corrupt: 0, refused: 0, crashes: 0 }

  constructor(options: DecoderOptions) {
    this.#log = options.log
    this.#clock = options.clock
    this.#timeoutMs = options.timeoutMs ?? 5000
    this.#idleMs = options.idleMs ?? 10_000
    this.#maxPending = options.maxPending ?? 64
    this.#maxPendingBytes = options.maxPendingBytes ?? 64 * 1024 * 1024
  }

  /**
   * One JPEG for each of `sizes`, in order: aspect kept, never enlarged. The picture of an mjpeg camera is returned as it is where
   * it fits. Rejects with 'corrupt' for a frame that cannot be decoded, 'unavailable' when too many wait, the process died or
   * hung over this frame, or the decoder is closed, 'invalid' for more than 64 sizes.
   */
  async decode(request: DecodeRequest): Promise<Uint8Array[]> {
    const { codec, config, data, sizes } = request
    if (sizes.length > maxSizes || config.length + data.length > maxMessageBytes / 2) {
      throw new AppError('invalid', `expected at most ${maxSizes} sizes of a frame below 32 MiB, got ${sizes.length}`)
    }
    if (this.#isClosed) throw new AppError('unavailable', 'the picture decoder is closed')
    if (codec === 'mjpeg' && sizes.every((size) => size.maxWidth === undefined && size.maxHeight === undefined)) {
      return sizes.map(() => data)
    }
    if (this.#queue.length >= this.#maxPending || this.#queueBytes + data.length > this.#maxPendingBytes) {
      this.#counts.refused++
      throw new AppError('unavailable', `the picture decoder is busy: ${this.#queue.length} key frames wait`)
    }
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array[]>()
    this.#queue.push({ ...request, resolve, reject })
    this.#queueBytes += data.length
    this.#next()
    return promise
  }

  /** Rejects what waits and ends the process. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.abort()
    const jobs = [...(this.#active ? [this.#active.job] : []), ...this.#queue.splice(0)]
    this.#active = undefined
    for (const job of jobs) job.reject(new AppError('unavailable', 'the picture decoder is closed'))
    await this.#child?.stop()
    this.#child = undefined
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  stats(): DecoderStats {
    return {
      isRunning: this.#child !== undefined,
      pid: this.#child?.pid,
      pending: this.#queue.length + (this.#active ? 1 : 0),
      ...this.#counts,
    }
  }

  #next(): void {
    if (this.#active || this.#isPausing || this.#isClosed) return
    const job = this.#queue.shift()
    if (!job) {
      this.#after(this.#idleMs, () => this.#stopIdle())
      return
    }
    this.#queueBytes -= job.data.length
    this.#active = { job, startedMs: this.#clock.monotonicMs() }
    this.#child ??= this.#startChild()
    this.#after(this.#timeoutMs, () => this.#lose(`no answer in ${this.#timeoutMs} ms`))
    this.#child.send(writeRequest(job))
  }

  #startChild(): MessageChild {
    this.#hasAnswered = false
    const child: MessageChild = new MessageChild({
      program: new URL('./decoder-process.ts', import.meta.url),
      onMessage: (message) => this.#answer(parseReply(message)),
      onExit: (reason) => {
        if (this.#child === child) this.#lose(reason)
      },
    })
    return child
  }

  #answer(reply: DecodeReply): void {
    const active = this.#active
    if (!active) return
    this.#active = undefined
    this.#hasAnswered = true
    this.#backoff.reset()
    this.#counts.busyMs += this.#clock.monotonicMs() - active.startedMs
    if ('error' in reply) {
      this.#counts.corrupt++
      active.job.reject(new AppError('corrupt', `the key frame could not be decoded: ${reply.error}`))
    } else {
      this.#counts.decodes++
      this.#counts.pictures += reply.jpegs.length
      active.job.resolve(reply.jpegs)
    }
    this.#next()
  }

  /** The process died or hangs: the frame it worked on is given up, the others go to a new one. */
  #lose(reason: string): void {
    const child = this.#child
    this.#child = undefined
    this.#counts.crashes++
    this.#log.warn({ reason }, 'the picture decoder was lost and is restarted')
    void child?.stop()
    const job = this.#active?.job
    this.#active = undefined
    job?.reject(new AppError('unavailable', `the picture decoder was lost over this key frame: ${reason}`))
    if (this.#hasAnswered) {
      this.#next()
      return
    }
    // It cannot even start: do not try in a tight loop.
    this.#isPausing = true
    this.#after(this.#backoff.nextMs(), () => {
      this.#isPausing = false
      this.#next()
    })
  }

  #stopIdle(): void {
    const child = this.#child
    this.#child = undefined
    void child?.stop()
  }

  /** Replaces the running timer. */
  #after(ms: number, action: () => void): void {
    this.#timer?.abort()
    const timer = new AbortController()
    this.#timer = timer
    this.#clock.sleep(ms, timer.signal).then(
      () => {
        if (!timer.signal.aborted) action()
      },
      () => {}, // replaced or closed
    )
  }
}
