// Repeats a task at an interval until it is aborted. For a task that must be restarted when it fails, see supervise.ts.

import type { Clock } from './clock.ts'
import { pause } from './pause.ts'

export type RepeatOptions = {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** From the end of one run to the start of the next, in milliseconds. */
  readonly intervalMs: number
  /** True to wait for one interval before the first run too. */
  readonly isDelayed?: boolean
}

/**
 * Runs `work` again and again, never two runs at once and never after `signal` has aborted. Resolves when `signal`
 * aborts and the current run has ended. Rejects with the error of a run that fails.
 */
export async function repeat(
  work: () => void | Promise<void>,
  { clock, signal, intervalMs, isDelayed = false }: RepeatOptions,
): Promise<void> {
  if (isDelayed) await pause(clock, intervalMs, signal)
  while (!signal.aborted) {
    await work()
    await pause(clock, intervalMs, signal)
  }
}
