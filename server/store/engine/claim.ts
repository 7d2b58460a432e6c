// The lock of a server on its database, and the error message for other servers.

import { AppError } from '../../base/error.ts'

/** Dispose to release the database. */
export type DatabaseClaim = AsyncDisposable & {
  /** Resolves when another server has taken over the database: this one has to stop. */
  readonly lost: Promise<AppError>
}

/**
 * `place`: the database without its password. `other`: a description of the server that holds it; undefined if
 * unknown.
 */
export function createClaimConflict(place: string, other = 'which does not tell its name'): AppError {
  const advice = 'stop it first, or give each server a database of its own'
  return new AppError('conflict', `the database ${place} is used by another Nightjar server, ${other}: ${advice}`)
}
