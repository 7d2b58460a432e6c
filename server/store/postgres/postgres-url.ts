// Addresses of PostgreSQL databases: postgres://user:password@host:port/name?parameters (libpq's connection URIs).

/** Whether the text means PostgreSQL at all; a file's name never begins so. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//i.test(text)
}

/** Whether the text is such an address and names a database. */
export function isCompletePostgresUrl(text: string): boolean {
  return isPostgresUrl(text) && URL.canParse(text) && new URL(text).pathname.length > 1
}

/** The address as it may be shown: without password and parameters. */
export function describePostgresUrl(text: string): string {
  const { username, host, pathname } = new URL(text)
  return `postgres://${username && `${username}@`}${host}${pathname}`
}
