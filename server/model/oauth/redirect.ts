// The URL that a browser is redirected to, with the response in its query (RFC 6749 section 4.1.2).

/**
 * `undefined` values are left out. The registered URI stays unchanged, including its own query. `state` is percent-encoded
 * already, and stays as it is, because applications compare it as they sent it.
 */
export function writeRedirect(
  redirectUri: string,
  answer: Readonly<Record<string, string | undefined>>,
  state?: string,
): string {
  const pairs = Object.entries(answer).filter((pair): pair is [string, string] => pair[1] !== undefined)
  // Not `+` for a space, because every decoder reads `%20`.
  const encoded = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  if (state !== undefined) encoded.push(`state=${state.replaceAll(/[^\x21-\x7e]|#/g, encodeByte)}`)
  const query = encoded.join('&')
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`
}

/** Requests carry bytes; Node reads each as a character. */
function encodeByte(character: string): string {
  const code = character.charCodeAt(0)
  return code > 0xff ? encodeURIComponent(character) : `%${code.toString(16).toUpperCase().padStart(2, '0')}`
}
