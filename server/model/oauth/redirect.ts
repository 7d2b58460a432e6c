// The URL that a browser is redirected to, with the response in its query (RFC 6749 section 4.1.2).

/** `undefined` values are left out. The registered URI stays unchanged, including its own query. */
export function writeRedirect(redirectUri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const pairs = Object.entries(answer).filter((pair): pair is [string, string] => pair[1] !== undefined)
  // Not `+` for a space, because every decoder reads `%20`.
  const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`
}
