// Tokens with a prefix that says what they are, random base62 digits, and six more that are the CRC-32 of all that precedes: a
// mistyped or cut token is refused without asking the database, and a secret scanner can be sure of a find.

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'

export type RandomBytes = (count: number) => Uint8Array

const checksumDigits = 6
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `randomBytes`: from a cryptographic source. */
export function createCheckedToken(prefix: string, randomDigits: number, randomBytes: RandomBytes): string {
  const text = prefix + createDigits(randomDigits, randomBytes)
  return text + checksumOf(text)
}

/** Base62. */
export function createDigits(count: number, randomBytes: RandomBytes): string {
  let digits = ''
  while (digits.length < count) {
    for (const byte of randomBytes(count + (count >> 3))) {
      // 248 = 4 · 62: the bytes above would favour some digits.
      if (byte < 248 && digits.length < count) digits += alphabet[byte % 62]
    }
  }
  return digits
}

/** Whether the last six digits are the checksum of the rest. */
export function hasRightChecksum(value: string): boolean {
  return value.endsWith(checksumOf(value.slice(0, -checksumDigits)))
}

/** SHA-256, as which tokens are kept; enough without salt for what nobody can guess. */
export function hashToken(value: string): Uint8Array {
  return createHash('sha256').update(value).digest()
}

function checksumOf(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < checksumDigits; i++) {
    digits = alphabet[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
