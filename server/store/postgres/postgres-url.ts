// URLs of PostgreSQL databases: postgres://user:password@host:port/name?parameters (libpq's connection URIs).

/** Whether the text names a PostgreSQL database. No file name begins like that. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//i.test(text)
}

/**
 * Whether the text is a valid URL with the name of a database. A part of a password that was not encoded is no name:
 * messages would show it.
 */
export function isCompletePostgresUrl(text: string): boolean {
  return isPostgresUrl(text) && URL.canParse(text) && /^\/[^/@:]+$/.test(new URL(text).pathname)
}

/** The URL for display: without password and parameters. */
export function describePostgresUrl(text: string): string {
  const { username, host, pathname } = new URL(text)
  return `postgres://${username && `${username}@`}${host}${pathname}`
}
