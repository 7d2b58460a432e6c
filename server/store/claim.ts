// What a server has that claimed its database, and what the next one is told.

import { AppError } from '../base/error.ts'

/** Dispose to let the database go. */
export type DatabaseClaim = AsyncDisposable & {
  /** Resolves when another server has taken the database over: then this one has to stop. */
  readonly lost: Promise<AppError>
}

/**
 * `place`: the database, without a password. `other`: the server that has it, in words; undefined when it does not
 * tell.
 */
export function createClaimConflict(place: string, other = 'which does not tell its name'): AppError {
  const advice = 'stop it first, or give each server a database of its own'
  return new AppError('conflict', `the database ${place} is used by another Nightjar server, ${other}: ${advice}`)
}
