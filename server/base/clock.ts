// The clock is a constructor argument, so that tests can simulate days in a moment.

import { setTimeout as delay } from 'node:timers/promises'

export type Clock = {
  /** Unix time in milliseconds; may be stepped by the operating system. */
  nowMs(): number
  /** Milliseconds since an arbitrary start; never steps, never goes back. */
  monotonicMs(): number
  /** Resolves after `ms`; rejects with `signal.reason` when aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Node fires timers longer than this immediately. */
const maxTimerMs = 2 ** 31 - 1

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    try {
      let leftMs = ms
      for (; leftMs > maxTimerMs; leftMs -= maxTimerMs) await delay(maxTimerMs, undefined, signal ? { signal } : {})
      await delay(leftMs, undefined, signal ? { signal } : {})
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    }
  },
}

const maxReadMs = 50
const maxReads = 10

/** Both clocks at the same moment: a process that was suspended between the two reads reads again. */
export function readTogether(clock: Clock): { readonly nowMs: number; readonly monotonicMs: number } {
  for (let reads = 1; ; reads++) {
    const monotonicMs = clock.monotonicMs()
    const nowMs = clock.nowMs()
    if (clock.monotonicMs() - monotonicMs <= maxReadMs || reads === maxReads) return { nowMs, monotonicMs }
  }
}
