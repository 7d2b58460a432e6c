// Personal access tokens: `njp_`, 30 random base62 digits (178 bits), and 6 that are the CRC-32 of what precedes them, so that a
// mistyped or cut token is refused without asking the database and a secret scanner can be sure of a find.

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { AppError } from '../base/error.ts'

const prefix = 'njp_'
const randomDigits = 30
const checksumDigits = 6
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const pattern = /^njp_[0-9A-Za-z]{36}$/

/** `randomBytes`: from a cryptographic source. */
export function createPersonalToken(randomBytes: (count: number) => Uint8Array): string {
  let text = prefix
  while (text.length < prefix.length + randomDigits) {
    for (const byte of randomBytes(randomDigits)) {
      // 248 = 4 · 62: the bytes above would favour some digits.
      if (byte < 248 && text.length < prefix.length + randomDigits) text += alphabet[byte % 62]
    }
  }
  return text + checksumOf(text)
}

/** Whether it has the form of our own tokens. */
export function looksPersonal(value: string): boolean {
  return pattern.test(value)
}

export function isChecksumValid(value: string): boolean {
  return looksPersonal(value) && value.endsWith(checksumOf(value.slice(0, -checksumDigits)))
}

/** Throws 'invalid' for a value brought from elsewhere that cannot be sent in a header or is too short to be a secret. */
export function checkTokenValue(value: string): void {
  if (!/^[\x21-\x7e]{20,256}$/.test(value)) {
    throw new AppError('invalid', 'a token value has 20 to 256 characters of printable ASCII without spaces')
  }
}

/** What is stored of a token. Of one brought along, whose beginning may be all the secret there is, only the end is shown. */
export function describePersonalToken(value: string): {
  hash: Uint8Array
  prefix: string
  lastFour: string
  isChecksumValid: boolean
} {
  return {
    hash: hashToken(value),
    prefix: looksPersonal(value) ? prefix : '',
    lastFour: value.slice(-4),
    isChecksumValid: !looksPersonal(value) || isChecksumValid(value),
  }
}

/** SHA-256; enough without salt for what nobody can guess. */
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
