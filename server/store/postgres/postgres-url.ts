// URLs of PostgreSQL databases: postgres://user:password@host:port,host:port/name?parameters (libpq's connection URIs).

/** Whether the text names a PostgreSQL database. No file name begins like that. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//i.test(text)
}

/**
 * Whether the text is a valid URL with the name of a database. A part of a password that was not encoded is no name:
 * messages would show it.
 */
export function isCompletePostgresUrl(text: string): boolean {
  if (!isPostgresUrl(text)) return false
  const urls = listServers(text)
  return urls.every((url) => URL.canParse(url) && /^\/[^/@:]+$/.test(new URL(url).pathname))
}

/** The URL for display: without password and parameters. */
export function describePostgresUrl(text: string): string {
  const urls = listServers(text).map((url) => new URL(url))
  const { username, pathname } = urls[0]!
  return `postgres://${username && `${username}@`}${urls.map(({ host }) => host).join(',')}${pathname}`
}

/** A URL for each of the hosts, in their order, without a name of the program. */
export function listServers(text: string): string[] {
  const [, scheme = '', login = '', hosts = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^@/?#]*@)?([^/?#]*)(.*)$/is.exec(text) ?? []
  return hosts.split(',').map((host) => {
    const url = `${scheme}${login}${host}${rest}`
    if (!URL.canParse(url)) return url
    const parsed = new URL(url)
    parsed.searchParams.delete('application_name')
    return parsed.href
  })
}
