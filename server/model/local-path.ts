// Where to go on after signing in: only ever a place on this server.

/**
 * Never matches what a browser resolves to another host: `//host`, `/\host`, and what it would turn into these by
 * dropping tabs and line breaks.
 */
const pattern = /^\/(?![/\\])[^\\\p{Cc}\s]*$/u

const maxLength = 8192

/** True for a path, with or without query, that begins with one slash. */
export function isLocalPath(text: string): boolean {
  return text.length <= maxLength && pattern.test(text)
}
