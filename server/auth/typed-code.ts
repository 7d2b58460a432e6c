// Codes that people type from a screen or a sheet of paper: random digits in Crockford's base32, which has no ambiguous
// letters.

import type { RandomBytes } from './checked-token.ts'

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const groupDigits = 5

/** Returns groups of five digits with five random bits each. `randomBytes` must be cryptographically secure. */
export function createTypedCode(digits: number, randomBytes: RandomBytes): string {
  const letters = [...randomBytes(digits)].map((byte) => alphabet[byte & 31]).join('')
  return letters.match(new RegExp(`.{1,${groupDigits}}`, 'g'))!.join('-')
}

/**
 * What was meant by a code, however a keyboard or an app writes it: digits of other scripts become ASCII; spaces, dashes,
 * dots and marks of the direction of writing are left out.
 */
export function readTyped(text: string): string {
  const plain = text.normalize('NFKC').replaceAll(/[\s\p{Pd}\p{Cf}\u2212\u0640\u060c\u066b\u066c.,\u00b7'_]/gu, '')
  return plain.replaceAll(/\p{Nd}/gu, (digit) => String(readDigit(digit)))
}

/** Unicode has each script's digits in a row that begins with 0; several such rows may follow each other. */
function readDigit(digit: string): number {
  const code = digit.codePointAt(0)!
  let first = code
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--
  return (code - first) % 10
}

/** Normalizes a typed code, or returns undefined if it is malformed. */
export function parseTypedCode(digits: number, text: string): string | undefined {
  const letters = readTyped(text).toUpperCase().replaceAll('O', '0').replaceAll(/[IL]/g, '1')
  return letters.length === digits && /^[0-9A-HJKMNP-TV-Z]*$/.test(letters) ? letters : undefined
}
