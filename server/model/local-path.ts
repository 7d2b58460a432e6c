// Where to continue after sign-in: only paths on this server.

/**
 * Never matches what a browser resolves to another host: `//host`, `/\host`, and what becomes one of these when tabs
 * and line breaks are removed.
 */
const pattern = /^\/(?![/\\])[^\\\p{Cc}\s]*$/u

/** A request to the authorization endpoint has a state of up to 8 KiB. */
const maxLength = 12_288

/** True for a path, with or without query, that begins with a single slash. */
export function isLocalPath(text: string): boolean {
  return text.length <= maxLength && pattern.test(text)
}
