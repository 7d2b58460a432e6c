// Translates errors of PostgreSQL and its connections for callers. Codes: PostgreSQL manual, appendix A.

import pg from 'pg'
import { AppError, errorChain } from '../../base/error.ts'

/**
 * Connection lost, out of resources, shut down or timed out, disk failed, read-only (a standby), lock timed out.
 */
const unavailable = /^(08|53|57|58)|^(25006|55P03)$/
/** The connection ended, or its prepared statements are gone. */
const lost = /^08|^57P|^26000$/
/** Text with NUL or invalid characters. */
const unfit = /^(22021|22P05)$/

export type PostgresFailure = {
  /** The error to throw. */
  readonly error: unknown
  /** Whether the connection is no longer usable. */
  readonly isLost: boolean
  /** Whether the server replicates another one, which takes the writes. */
  readonly isReadOnly?: boolean
}

/** `place`: the database's URL without its password. Other errors are returned unchanged. */
export function explainPostgresFailure(cause: unknown, place: string): PostgresFailure {
  if (!(cause instanceof pg.DatabaseError)) {
    const isOurs = cause instanceof TypeError || cause instanceof AppError
    return isOurs ? { error: cause, isLost: false } : { error: createUnavailable(cause, place), isLost: true }
  }
  const code = cause.code ?? ''
  if (unfit.test(code))
    return { error: new AppError('invalid', 'the text contains a NUL character', { cause }), isLost: false }
  // A newer version changed a table of a prepared statement; a new connection prepares it again.
  const isOutdated = code === '0A000' && cause.routine === 'RevalidateCachedQuery'
  if (isOutdated || lost.test(code)) return { error: createUnavailable(cause, place), isLost: true }
  const isReadOnly = code === '25006'
  return { error: unavailable.test(code) ? createUnavailable(cause, place) : cause, isLost: isReadOnly, isReadOnly }
}

/** For errors that prevented a connection. */
export function createUnavailable(cause: unknown, place: string): AppError {
  // For a host with several addresses, each has its own error, and the aggregate error has no message.
  const reason = cause instanceof AggregateError ? new Error(cause.errors.map(errorChain).join(', '), { cause }) : cause
  return new AppError('unavailable', `the database ${place} cannot be used`, { cause: reason })
}
