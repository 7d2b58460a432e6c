// The address a browser is sent back to, with the answer in its query (RFC 6749 section 4.1.2).

/** `undefined` leaves out. The registered address stays as it is, a query of its own included. */
export function writeRedirect(redirectUri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const pairs = Object.entries(answer).filter((pair): pair is [string, string] => pair[1] !== undefined)
  // Not `+` for a space: every decoder reads `%20`.
  const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`
}
