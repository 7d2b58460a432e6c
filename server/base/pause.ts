// A wait that an abort signal ends early without an error.

import type { Clock } from './clock.ts'

/** Resolves after `ms` with true, or with false as soon as `signal` aborts. Never rejects. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  return clock.sleep(ms, signal).then(
    () => true,
    () => false,
  )
}
