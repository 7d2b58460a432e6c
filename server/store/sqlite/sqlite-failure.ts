// Translates errors of SQLite for callers. Codes: sqlite.org/rescode.html.

import { AppError } from '../../base/error.ts'

/** BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN: another process holds the file, or the disk fails. */
const unavailable = new Set([5, 6, 8, 10, 13, 14])

/** Other errors are returned unchanged. */
export function explainSqliteFailure(cause: unknown): unknown {
  const { code, errcode } = cause as { code?: string; errcode?: number }
  const isUnavailable = code === 'ERR_SQLITE_ERROR' && unavailable.has(errcode! & 0xff)
  return isUnavailable ? new AppError('unavailable', 'the database cannot be used', { cause }) : cause
}

/** PostgreSQL cannot store it and refuses; SQLite would store it and truncate it in comparisons. */
export function checkText(parameters: readonly unknown[]): void {
  for (const value of parameters) {
    if (typeof value === 'string' && value.includes('\0'))
      throw new AppError('invalid', 'the text contains a NUL character')
  }
}
