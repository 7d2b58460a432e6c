// Redirect URIs: what may be registered, and whether the URI in a request is a registered one. They are compared as
// text (RFC 9700 section 2.1), because every lenient comparison has been an open redirect somewhere.

import { AppError } from '../../base/error.ts'

const maxLength = 2000
/** A program on the user's machine listens on whatever port is free (RFC 8252 section 7.3). */
const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?((?:[/?].*)?)$/
/** RFC 8252 section 7.1: the scheme is a reversed domain name, which excludes `javascript:` and similar schemes. */
const privateScheme = /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+$/

/** True if `uri` is registered. The port of loopback URIs may differ. */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (registered.includes(uri)) return true
  const asked = splitLoopback(uri)
  return asked !== undefined && registered.some((other) => splitLoopback(other) === asked)
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
    return 'A redirect URI is https, http on this machine, or of a private scheme that is a domain name backwards.'
  }
  // Spelled as browsers do: no dot segments, no upper case in the host, no default port.
  if (url.href !== uri && url.href !== `${uri}/`) return `A redirect URI is written in full, as ${url.href}`
  return undefined
}
