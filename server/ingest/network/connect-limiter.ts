// Lets so many connections to one host and port be set up at a time: a recorder with 64 channels that comes back must
// not be asked for all of them at once, nor each of them find out for itself that it is away.

import { CameraError } from './camera-error.ts'

type Waiting = { resolve(): void; reject(error: unknown): void }

type Host = { connecting: number; readonly waiting: Set<Waiting> }

export type ConnectPermit = {
  /** The connection is set up, or has failed: the next may begin. Any number of times. */
  release(failure?: unknown): void
}

/** One for all cameras of a thread. */
export class ConnectLimiter {
  readonly #perHost: number
  readonly #hosts = new Map<string, Host>()

  constructor(perHost: number) {
    this.#perHost = perHost
  }

  /**
   * Waits for its turn; `host` names host and port. @throws CameraError when another connection found meanwhile that
   * nobody answers there; the signal's reason when it aborts
   */
  async enter(host: string, signal: AbortSignal): Promise<ConnectPermit> {
    signal.throwIfAborted()
    const found = this.#hosts.get(host) ?? { connecting: 0, waiting: new Set() }
    this.#hosts.set(host, found)
    if (found.connecting >= this.#perHost) await this.#wait(found, signal)
    else found.connecting++
    let isReleased = false
    return {
      release: (failure) => {
        if (isReleased) return
        isReleased = true
        this.#release(host, found, failure)
      },
    }
  }

  /** Resolves with the place of another, which counts on. */
  async #wait(host: Host, signal: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>()
    const leave = () => {
      // A place that has just been given away is not refused any more: whoever got it gives it back.
      if (host.waiting.delete(turn)) turn.reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    host.waiting.add(turn)
    try {
      await turn.promise
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  #release(name: string, host: Host, failure: unknown): void {
    if (failure instanceof CameraError && failure.isUnreachable) {
      for (const waiting of host.waiting) waiting.reject(failure)
      host.waiting.clear()
    }
    const [next] = host.waiting
    if (next) {
      host.waiting.delete(next)
      next.resolve()
    } else if (--host.connecting === 0) this.#hosts.delete(name)
  }
}
