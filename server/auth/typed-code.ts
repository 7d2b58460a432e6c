// Codes that people type from a screen or a sheet: random digits of Crockford's base32, which has no letters that look like digits.

import type { RandomBytes } from './checked-token.ts'

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const groupDigits = 5

/** Groups of five digits, five random bits each. `randomBytes`: from a cryptographic source. */
export function createTypedCode(digits: number, randomBytes: RandomBytes): string {
  const letters = [...randomBytes(digits)].map((byte) => alphabet[byte & 31]).join('')
  return letters.match(new RegExp(`.{1,${groupDigits}}`, 'g'))!.join('-')
}

/** The digits however they were typed; undefined for what cannot be such a code. */
export function parseTypedCode(digits: number, text: string): string | undefined {
  const letters = text.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1')
  return letters.length === digits && /^[0-9A-HJKMNP-TV-Z]*$/.test(letters) ? letters : undefined
}
