// Personal access tokens: `njp_`, 30 random base62 digits (178 bits) and the checksum, 40 characters in total; see
// checked-token.ts.

import { AppError } from '../base/error.ts'
import { createCheckedToken, hashToken, hasRightChecksum, type RandomBytes } from './checked-token.ts'

const prefix = 'njp_'
const randomDigits = 30
const pattern = /^njp_[0-9A-Za-z]{36}$/

/** `randomBytes` must be cryptographically secure. */
export function createPersonalToken(randomBytes: RandomBytes): string {
  return createCheckedToken(prefix, randomDigits, randomBytes)
}

/** True if the value has the format of our own tokens. */
export function looksPersonal(value: string): boolean {
  return pattern.test(value)
}

export function isChecksumValid(value: string): boolean {
  return looksPersonal(value) && hasRightChecksum(value)
}

/** Throws 'invalid' for an imported value that cannot be sent in a header or is too short to be a secret. */
export function checkTokenValue(value: string): void {
  if (!/^[\x21-\x7e]{20,256}$/.test(value)) {
    throw new AppError('invalid', 'a token must have 20 to 256 printable ASCII characters without spaces')
  }
}

/**
 * What is stored of a token for display. Of an imported token, only the end is stored, because its beginning may be
 * most of the secret.
 */
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
