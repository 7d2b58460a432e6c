// Keeps a long-running task running: restarts it with jittered back-off until its signal aborts.

import type { Clock } from './clock.ts'
import { pause } from './pause.ts'
import { Backoff } from './retry.ts'

export type SuperviseOptions = {
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly minMs?: number
  readonly maxMs?: number
  /** A run that lasted this long counts as healthy and resets the back-off. */
  readonly healthyMs?: number
  /** Called for every unexpected end, with the delay before the next run. */
  readonly onFailure: (error: unknown, delayMs: number) => void
  readonly random?: () => number
}

/**
 * Resolves when `signal` aborts and the current run has ended. A run that returns is restarted like one that throws.
 */
export async function supervise(run: (signal: AbortSignal) => Promise<void>, options: SuperviseOptions): Promise<void> {
  const { signal, clock, minMs = 1000, maxMs = 60_000, healthyMs = 60_000, onFailure, random } = options
  const backoff = new Backoff({ minMs, maxMs, ...(random && { random }) })
  while (!signal.aborted) {
    const startedMs = clock.monotonicMs()
    let failure: unknown
    try {
      await run(signal)
    } catch (error) {
      failure = error
    }
    if (signal.aborted) return
    if (clock.monotonicMs() - startedMs >= healthyMs) backoff.reset()
    const delayMs = backoff.nextMs()
    onFailure(failure, delayMs)
    await pause(clock, delayMs, signal)
  }
}
