// Cookies of this server. For names with the prefix `__Host-`, browsers enforce that the cookie belongs to this host
// alone, to all of its paths, and is sent only over TLS (RFC 6265bis section 4.1.3.2).

export type CookieOptions = {
  /** Without it, the cookie is deleted when the browser is closed. */
  readonly maxAgeSeconds?: number
}

/**
 * Returns the value of a Set-Cookie header. SameSite is Lax instead of Strict, so that users who follow a link from
 * another site, such as an application that requests access, are still signed in.
 */
export function writeCookie(name: string, value: string, { maxAgeSeconds }: CookieOptions = {}): string {
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`
  return `__Host-${name}=${value}${age}; Path=/; Secure; HttpOnly; SameSite=Lax`
}

/** Returns the value of a cookie in a Cookie header. If it is repeated, the first one counts. */
export function findCookie(header: string | undefined, name: string): string | undefined {
  return listCookies(header, `${name}=`)[0]
}

/** Returns the values of all cookies whose names, followed by `=`, begin so. */
export function listCookies(header: string | undefined, beginning: string): string[] {
  const wanted = `__Host-${beginning}`
  const found = (header?.split(';') ?? []).map((pair) => pair.trim()).filter((pair) => pair.startsWith(wanted))
  return found.map((pair) => pair.slice(pair.indexOf('=') + 1))
}
