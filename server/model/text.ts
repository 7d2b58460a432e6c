// Texts that people write: how long they are, and what they must not hold.

/** As people count, nearly: code points. */
export function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

/**
 * Characters that are not seen but change what is seen: controls, line and paragraph separators, and those that turn
 * the direction of what follows, by which a name could be made to read as another (Unicode UAX #9 section 2,
 * CVE-2021-42574).
 */
export function hasHiddenCharacters(text: string): boolean {
  return /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.test(text)
}
