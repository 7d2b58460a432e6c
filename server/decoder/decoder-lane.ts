// One decoder process, started for the first frame and stopped when idle. It has one frame at a time, so one that dies or hangs can only
// have died of that.

import type { Clock } from '../base/clock.ts'
import { Backoff } from '../base/retry.ts'
import { type DecodeReply, type DecodeRequest, parseReply, writeRequest } from './decoder-protocol.ts'
import type { Isolation } from './isolation/isolation.ts'
import { MessageChild } from './message-child.ts'

export type DecoderLaneOptions = {
  readonly clock: Clock
  readonly isolation: Isolation
  /** What it may take beyond its runtime, where that is limited. */
  readonly memoryBytes: number
  /** A decode that takes longer is given up and the process restarted. */
  readonly timeoutMs: number
  /** The process is stopped after this time without work. */
  readonly idleMs: number
  /** Told when a frame is done with. `reply` is undefined when the process died or was killed over it, for this reason. */
  readonly onDone: (reply: DecodeReply | undefined, took: { readonly ms: number; readonly reason: string }) => void
  /** Told when the process is lost, with a frame or without. */
  readonly onLost: (reason: string) => void
  /** Told when it can be given work again. */
  readonly onFree: () => void
}

export class DecoderLane {
  readonly #options: DecoderLaneOptions
  readonly #backoff = new Backoff({ minMs: 200, maxMs: 30_000 })
  #child: MessageChild | undefined
  #startedMs: number | undefined
  /** Ends the running timer: the decode's limit, the idle time, or the pause after a failed start. */
  #timer: AbortController | undefined
  #hasAnswered = false
  #isPausing = false

  constructor(options: DecoderLaneOptions) {
    this.#options = options
  }

  get isFree(): boolean {
    return this.#startedMs === undefined && !this.#isPausing
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** How long it has been at its frame; undefined when it has none. */
  get busyMs(): number | undefined {
    return this.#startedMs === undefined ? undefined : this.#options.clock.monotonicMs() - this.#startedMs
  }

  /** To be called when it is free. */
  start(request: DecodeRequest): void {
    const { clock, timeoutMs } = this.#options
    this.#startedMs = clock.monotonicMs()
    this.#child ??= this.#startChild()
    this.#after(timeoutMs, () => this.giveUp(`no answer in ${timeoutMs} ms`))
    this.#child.send(writeRequest(request))
  }

  /** Kills the process with the frame it has, if any. */
  giveUp(reason: string): void {
    const { onDone, onLost, onFree } = this.#options
    const child = this.#child
    this.#child = undefined
    this.#timer?.abort()
    void child?.stop()
    onLost(reason)
    const ms = this.busyMs
    this.#startedMs = undefined
    // It cannot even start: do not try in a tight loop.
    this.#isPausing = !this.#hasAnswered
    if (this.#isPausing) {
      this.#after(this.#backoff.nextMs(), () => {
        this.#isPausing = false
        onFree()
      })
    }
    if (ms !== undefined) onDone(undefined, { ms, reason })
    if (!this.#isPausing) onFree()
  }

  async close(): Promise<void> {
    this.#timer?.abort()
    const child = this.#child
    this.#child = undefined
    await child?.stop()
  }

  #startChild(): MessageChild {
    this.#hasAnswered = false
    const child: MessageChild = new MessageChild({
      program: new URL('./decoder-process.ts', import.meta.url),
      isolation: this.#options.isolation,
      memoryBytes: this.#options.memoryBytes,
      onMessage: (message) => this.#answer(parseReply(message)),
      onExit: (reason) => {
        if (this.#child === child) this.giveUp(reason)
      },
    })
    return child
  }

  #answer(reply: DecodeReply): void {
    const { idleMs, onDone, onFree } = this.#options
    const ms = this.busyMs
    if (ms === undefined) return
    this.#startedMs = undefined
    this.#hasAnswered = true
    this.#backoff.reset()
    this.#after(idleMs, () => void this.close())
    onDone(reply, { ms, reason: '' })
    onFree()
  }

  /** Replaces the running timer. */
  #after(ms: number, action: () => void): void {
    this.#timer?.abort()
    const timer = new AbortController()
    this.#timer = timer
    this.#options.clock.sleep(ms, timer.signal).then(
      () => {
        if (!timer.signal.aborted) action()
      },
      () => {}, // replaced or closed
    )
  }
}
