// Limits how long to wait for a promise, on a clock that tests can control. The work itself continues.

import type { Clock } from './clock.ts'
import { pause } from './pause.ts'

export type DeadlineOptions = {
  readonly ms: number
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
  /** Creates the error that is thrown when the time is over. */
  readonly onLate: () => Error
}

/** Returns the result of `work`. Throws the error of `onLate` after `ms`, or the signal's reason if it aborts. */
export async function withDeadline<T>(work: Promise<T>, { ms, clock, signal, onLate }: DeadlineOptions): Promise<T> {
  const done = new AbortController()
  const late = pause(clock, ms, signal ? AbortSignal.any([signal, done.signal]) : done.signal).then((isLate) => {
    throw isLate ? onLate() : signal?.reason
  })
  // The promise that loses the race has no other handler.
  late.catch(() => {})
  work.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    done.abort()
  }
}

/** Waits for `work`, but not longer than `ms`. Returns false if the time is over first. Throws the error of `work`. */
export async function settlesWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  const done = new AbortController()
  try {
    return await Promise.race([work.then(() => true), pause(clock, ms, done.signal).then(() => false)])
  } finally {
    done.abort()
  }
}
