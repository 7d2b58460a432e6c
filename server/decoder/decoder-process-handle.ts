// Manages one decoder process, which is started for the first frame and stopped when idle. It decodes one frame at a
// time, so a crash or hang can be attributed to that frame.

import type { Clock } from '../base/clock.ts'
import { Backoff } from '../base/retry.ts'
import { Timer } from '../base/timer.ts'
import { ProcessorWait } from './cpu-watch.ts'
import { type DecodeReply, type DecodeRequest, parseReply, writeRequest } from './decoder-protocol.ts'
import type { Isolation } from './isolation/isolation.ts'
import { MessageChild } from './message-child.ts'

export type DecoderProcessHandleOptions = {
  readonly clock: Clock
  readonly isolation: Isolation
  /** Memory limit beyond the needs of Node itself, where the system supports limits. */
  readonly memoryBytes: number
  /**
   * When decoding takes longer, the process is killed and restarted. It may take up to six times as long while the machine
   * has no processor for it.
   */
  readonly timeoutMs: number
  /** The process is stopped after this time without work. */
  readonly idleMs: number
  /**
   * Called when a frame is done. `reply` is undefined when the process died or was killed while decoding it, for this
   * reason.
   */
  readonly onDone: (reply: DecodeReply | undefined, took: { readonly ms: number; readonly reason: string }) => void
  /** Called when the process is lost, with or without a frame. */
  readonly onLost: (reason: string) => void
  /** Called when the process can take the next frame. */
  readonly onFree: () => void
}

const longestWait = 6
/** Whether a process gets processor time is looked at over this part of its time limit. */
const lookShare = 0.2

export class DecoderProcessHandle {
  readonly #options: DecoderProcessHandleOptions
  readonly #backoff = new Backoff({ minMs: 200, maxMs: 30_000 })
  #child: MessageChild | undefined
  #startedMs: number | undefined
  /** The decode timeout, the idle time, or the pause after a failed start. */
  readonly #timer: Timer
  #hasAnswered = false
  #isPausing = false

  constructor(options: DecoderProcessHandleOptions) {
    this.#options = options
    this.#timer = new Timer(options.clock)
  }

  get isFree(): boolean {
    return this.#startedMs === undefined && !this.#isPausing
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** How long the current frame has been decoding; undefined without one. */
  get busyMs(): number | undefined {
    return this.#startedMs === undefined ? undefined : this.#options.clock.monotonicMs() - this.#startedMs
  }

  /** Must only be called when the process is free. */
  start(request: DecodeRequest): void {
    const { clock, timeoutMs } = this.#options
    this.#startedMs = clock.monotonicMs()
    this.#child ??= this.#startChild()
    this.#timer.start(timeoutMs * (1 - lookShare), () => this.#endUnlessLacking(this.watchWait()))
    this.#child.send(writeRequest(request))
  }

  /** Undefined if there is no process. */
  watchWait(): ProcessorWait | undefined {
    const { pid } = this
    return pid === undefined ? undefined : new ProcessorWait(pid)
  }

  #endUnlessLacking(wait: ProcessorWait | undefined): void {
    const { timeoutMs } = this.#options
    this.#timer.start(timeoutMs * lookShare, () => {
      const busyMs = this.busyMs ?? 0
      if (wait?.isLacking() && busyMs < longestWait * timeoutMs) this.#endUnlessLacking(wait)
      else this.kill(`no answer in ${Math.round(busyMs)} ms`)
    })
  }

  /** Kills the process together with its current frame. */
  kill(reason: string): void {
    const { onDone, onLost, onFree } = this.#options
    const child = this.#child
    this.#child = undefined
    this.#timer.stop()
    void child?.stop()
    onLost(reason)
    const ms = this.busyMs
    this.#startedMs = undefined
    // The process failed to start, so wait before the next attempt.
    this.#isPausing = !this.#hasAnswered
    if (this.#isPausing) {
      this.#timer.start(this.#backoff.nextMs(), () => {
        this.#isPausing = false
        onFree()
      })
    }
    if (ms !== undefined) onDone(undefined, { ms, reason })
    if (!this.#isPausing) onFree()
  }

  async close(): Promise<void> {
    this.#timer.stop()
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
        if (this.#child === child) this.kill(reason)
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
    this.#timer.start(idleMs, () => void this.close())
    onDone(reply, { ms, reason: '' })
    onFree()
  }
}
