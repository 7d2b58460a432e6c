// Which constraint a failed write violated, for both databases.

/** SQLITE_CONSTRAINT_UNIQUE, SQLITE_CONSTRAINT_PRIMARYKEY; PostgreSQL unique_violation. */
export function isUniqueViolation(error: unknown): boolean {
  return hasCode(error, [2067, 1555], '23505')
}

/** SQLITE_CONSTRAINT_FOREIGNKEY; PostgreSQL foreign_key_violation. */
export function isForeignKeyViolation(error: unknown): boolean {
  return hasCode(error, [787], '23503')
}

/**
 * PostgreSQL serialization_failure, deadlock_detected: the transaction was rolled back and can be retried.
 */
export function isTransactionConflict(error: unknown): boolean {
  return hasCode(error, [], '40001') || hasCode(error, [], '40P01')
}

function hasCode(error: unknown, sqlite: readonly number[], postgres: string): boolean {
  const { errcode, code } = error as { errcode?: number; code?: string }
  return code === 'ERR_SQLITE_ERROR' ? sqlite.includes(errcode!) : code === postgres
}
