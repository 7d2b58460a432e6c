// Cookies of this server. The prefix `__Host-` makes browsers insist on what is written here: this host alone, the whole of it,
// over TLS (RFC 6265bis section 4.1.3.2).

export type CookieOptions = {
  /** Without it the cookie goes when the browser is closed. */
  readonly maxAgeSeconds?: number
}

/**
 * The value of a Set-Cookie header. SameSite is Lax, not Strict: who comes from another site, for instance from an application
 * that asks to be let in, is still signed in.
 */
export function writeCookie(name: string, value: string, { maxAgeSeconds }: CookieOptions = {}): string {
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`
  return `__Host-${name}=${value}${age}; Path=/; Secure; HttpOnly; SameSite=Lax`
}

/** The value of a cookie in a Cookie header; the first when it is repeated. */
export function findCookie(header: string | undefined, name: string): string | undefined {
  const wanted = `__Host-${name}=`
  for (const pair of header?.split(';') ?? []) {
    const text = pair.trim()
    if (text.startsWith(wanted)) return text.slice(wanted.length)
  }
  return undefined
}
