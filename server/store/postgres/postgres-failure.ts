// What an error of PostgreSQL, or of the connection to it, means to a caller. Codes: PostgreSQL manual, appendix A.

import pg from 'pg'
import { AppError, errorChain } from '../../base/error.ts'

/**
 * Connection lost, no resources, shut down or timed out, disk failed; read-only (a standby), lock not granted in time.
 */
const unavailable = /^(08|53|57|58)|^(25006|55P03)$/
/** The connection ended, or the statements prepared in it are gone. */
const lost = /^08|^57P|^26000$/
/** Text that holds NUL, or characters that are none. */
const unfit = /^(22021|22P05)$/

export type PostgresFailure = {
  /** What to throw. */
  readonly error: unknown
  /** Whether the connection is of no further use. */
  readonly isLost: boolean
}

/** `place`: the database's address without password. Errors that mean nothing of the kind stay as they are. */
export function explainPostgresFailure(cause: unknown, place: string): PostgresFailure {
  if (!(cause instanceof pg.DatabaseError)) {
    const isOurs = cause instanceof TypeError || cause instanceof AppError
    return isOurs ? { error: cause, isLost: false } : { error: createUnavailable(cause, place), isLost: true }
  }
  const code = cause.code ?? ''
  if (unfit.test(code))
    return { error: new AppError('invalid', 'the text contains a NUL character', { cause }), isLost: false }
  // A newer version has changed a table under a prepared statement: a new connection prepares it anew.
  const isOutdated = code === '0A000' && cause.routine === 'RevalidateCachedQuery'
  if (isOutdated || lost.test(code)) return { error: createUnavailable(cause, place), isLost: true }
  return { error: unavailable.test(code) ? createUnavailable(cause, place) : cause, isLost: false }
}

/** For whatever stopped a connection from being made. */
export function createUnavailable(cause: unknown, place: string): AppError {
  // Of a host with several addresses each has an error of its own, and their sum has no message.
  const reason = cause instanceof AggregateError ? new Error(cause.errors.map(errorChain).join(', '), { cause }) : cause
  return new AppError('unavailable', `the database ${place} cannot be used`, { cause: reason })
}
