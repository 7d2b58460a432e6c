// Limits how long to wait for a promise, on a clock that tests can control.

import type { Clock } from '../../base/clock.ts'

/**
 * Returns the result of `work`. Throws the error of `onLate` after `ms`, or the signal's reason if it aborts. `work`
 * itself continues.
 */
export async function withDeadline<T>(
  work: Promise<T>,
  options: { readonly ms: number; readonly clock: Clock; readonly signal: AbortSignal; readonly onLate: () => Error },
): Promise<T> {
  const done = new AbortController()
  const late = options.clock.sleep(options.ms, AbortSignal.any([options.signal, done.signal])).then(
    () => Promise.reject(options.onLate()),
    () => Promise.reject(options.signal.reason),
  )
  // The promise that loses the race has no other handler.
  late.catch(() => {})
  work.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    done.abort()
  }
}
