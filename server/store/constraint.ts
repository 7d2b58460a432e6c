// Which rule of the database a failed write broke, in the words of both databases.

/** SQLITE_CONSTRAINT_UNIQUE, SQLITE_CONSTRAINT_PRIMARYKEY; PostgreSQL unique_violation. */
export function isUniqueViolation(error: unknown): boolean {
  return hasCode(error, [2067, 1555], '23505')
}

/** SQLITE_CONSTRAINT_FOREIGNKEY; PostgreSQL foreign_key_violation. */
export function isForeignKeyViolation(error: unknown): boolean {
  return hasCode(error, [787], '23503')
}

/**
 * PostgreSQL serialization_failure, deadlock_detected: the transaction was undone, and running it again may succeed.
 */
export function isTransactionConflict(error: unknown): boolean {
  return hasCode(error, [], '40001') || hasCode(error, [], '40P01')
}

function hasCode(error: unknown, sqlite: readonly number[], postgres: string): boolean {
  const { errcode, code } = error as { errcode?: number; code?: string }
  return code === 'ERR_SQLITE_ERROR' ? sqlite.includes(errcode!) : code === postgres
}
