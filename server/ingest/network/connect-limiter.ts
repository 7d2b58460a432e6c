// Limits how many connections to one host and port are opened at the same time. A recorder with 64 channels that comes
// back must not receive requests for all of them at once. While it is away, one failed connection is enough for all of
// them.

import { CameraError } from './camera-error.ts'

type Waiting = { resolve(): void; reject(error: unknown): void }

type Host = { connecting: number; readonly waiting: Set<Waiting> }

export type ConnectPermit = {
  /** The connection is open or has failed, so the next one may start. Further calls do nothing. */
  release(failure?: unknown): void
}

/** One instance for all cameras of a thread. */
export class ConnectLimiter {
  readonly #perHost: number
  readonly #hosts = new Map<string, Host>()

  constructor(perHost: number) {
    this.#perHost = perHost
  }

  /**
   * Waits for a permit. `host` is the host and port. @throws CameraError if another connection fails to reach the host
   * while this one waits; the signal's reason if it aborts.
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

  /** Resolves when it takes over the permit of another connection, so the count does not change. */
  async #wait(host: Host, signal: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>()
    const leave = () => {
      // A waiter that already has a permit is not rejected: it releases the permit itself.
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
