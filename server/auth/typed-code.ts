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

/** Normalizes a typed code, or returns undefined if it is malformed. */
export function parseTypedCode(digits: number, text: string): string | undefined {
  const letters = text.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1')
  return letters.length === digits && /^[0-9A-HJKMNP-TV-Z]*$/.test(letters) ? letters : undefined
}
