// A limit on how long to wait for something, on the clock that tests can run by hand.

import type { Clock } from '../../base/clock.ts'

/**
 * What `work` gives, or the error of `onLate` after `ms`, or the signal's reason when it aborts. `work` itself goes on.
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
  // Whichever loses the race has nobody waiting for it.
  late.catch(() => {})
  work.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    done.abort()
  }
}
