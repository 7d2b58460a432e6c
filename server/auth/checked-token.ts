// Tokens that consist of a prefix that names their kind, random base62 digits, and a CRC-32 of everything before it in
// six more digits. The checksum lets the server reject mistyped tokens without a database query, and lets secret
// scanners avoid false positives.

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'

export type RandomBytes = (count: number) => Uint8Array

const checksumDigits = 6
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `randomBytes` must be cryptographically secure. */
export function createCheckedToken(prefix: string, randomDigits: number, randomBytes: RandomBytes): string {
  const text = prefix + createDigits(randomDigits, randomBytes)
  return text + checksumOf(text)
}

/** Returns random base62 digits. */
export function createDigits(count: number, randomBytes: RandomBytes): string {
  let digits = ''
  while (digits.length < count) {
    for (const byte of randomBytes(count + (count >> 3))) {
      // 248 = 4 · 62. Bytes from 248 would make some digits more likely than others.
      if (byte < 248 && digits.length < count) digits += alphabet[byte % 62]
    }
  }
  return digits
}

/** True if the last six digits are the checksum of the rest. */
export function hasRightChecksum(value: string): boolean {
  return value.endsWith(checksumOf(value.slice(0, -checksumDigits)))
}

/** The SHA-256 that is stored instead of a token. It needs no salt, because tokens cannot be guessed. */
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
