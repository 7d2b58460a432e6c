// Redirect URIs: what may be registered, and whether the URI in a request is a registered one. They are compared as
// text (RFC 9700 section 2.1), because every lenient comparison has been an open redirect somewhere.

import { AppError } from '../../base/error.ts'

const maxLength = 2000
/**
 * A program on the user's machine listens on whatever port is free (RFC 8252 section 7.3). `localhost` is what most of
 * them register.
 */
const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::(\d{1,5}))?((?:[/?].*)?)$/
/** RFC 8252 section 7.1: the scheme is a reversed domain name, which excludes `javascript:` and similar schemes. */
const privateScheme = /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+$/

/** True if `uri` is registered. The port of loopback URIs and the case of the scheme may differ. */
export function isRegistered(given: string, registered: readonly string[]): boolean {
  const uri = lowerScheme(given)
  const known = registered.map(lowerScheme)
  if (known.includes(uri)) return true
  const asked = splitLoopback(uri)
  return asked !== undefined && known.some((other) => splitLoopback(other) === asked)
}

/** RFC 3986 section 3.1: schemes are compared without case. */
function lowerScheme(uri: string): string {
  return uri.replace(/^[a-z][a-z0-9+.-]*:/i, (scheme) => scheme.toLowerCase())
}

/** Absolute and without a fragment, as RFC 6749 section 3.1.2 requires; other errors get their own message. */
export function isWellFormed(uri: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(uri) && !uri.includes('#')
}

/** Throws 'invalid' for URIs that must not be registered. */
export function checkRedirectUri(uri: string): void {
  const fault = findFault(uri)
  if (fault !== undefined) throw new AppError('invalid', fault, { fields: { redirect_uris: [fault] } })
}

/** The URI without its port; undefined if it is not a loopback URI. */
function splitLoopback(uri: string): string | undefined {
  const [, origin, port, rest] = loopback.exec(uri) ?? []
  if (origin === undefined || uri.includes('#')) return undefined
  const isPort = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535)
  return isPort ? `${origin}${rest}` : undefined
}

function findFault(uri: string): string | undefined {
  if (uri.length > maxLength) return `A redirect URI has at most ${maxLength} characters.`
  if (!/^[\x21-\x7e]+$/.test(uri) || /["<>\\^`{|}*]/.test(uri))
    return 'A redirect URI has only characters of URIs, no wildcard among them.'
  const url = URL.canParse(uri) ? new URL(uri) : undefined
  if (!url) return 'A redirect URI is absolute.'
  if (uri.includes('#')) return 'A redirect URI has no fragment.'
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?]*@/.test(uri))
    return 'A redirect URI has no user information.'
  const scheme = url.protocol.slice(0, -1)
  if (scheme === 'http' && !['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)) {
    return 'A redirect URI is https, or http on localhost, 127.0.0.1 or [::1].'
  }
  if (scheme !== 'http' && scheme !== 'https' && !privateScheme.test(scheme)) {
    return `The scheme "${scheme}:" cannot be registered, because any other program may answer to it too. Use http://127.0.0.1/, https, or a scheme that is your domain name backwards, such as com.example.app:/ (RFC 8252).`
  }
  // Spelled as browsers do: no dot segments, no upper case in the host, no default port.
  const written = lowerScheme(uri)
  if (url.href !== written && url.href !== `${written}/`) return `A redirect URI is written in full, as ${url.href}`
  return undefined
}
