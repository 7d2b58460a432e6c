// OAuth secrets: a prefix for each kind, 43 random base62 digits (256 bits) and the checksum; see checked-token.ts.

import { timingSafeEqual } from 'node:crypto'
import { AppError } from '../../base/error.ts'
import { createCheckedToken, createDigits, hashToken, hasRightChecksum, type RandomBytes } from '../checked-token.ts'

const prefixes = { access: 'njat_', refresh: 'njrt_', code: 'njac_', clientSecret: 'njcs_' } as const
const randomDigits = 43
const clientIdDigits = 32

export type OAuthSecretKind = keyof typeof prefixes

/** `randomBytes` must be cryptographically secure. */
export function createOAuthSecret(kind: OAuthSecretKind, randomBytes: RandomBytes): string {
  return createCheckedToken(prefixes[kind], randomDigits, randomBytes)
}

/** True if the format and the checksum are those of our own secrets. */
export function isOAuthSecret(kind: OAuthSecretKind, value: string): boolean {
  return value.startsWith(prefixes[kind]) && /^\w{54}$/.test(value) && hasRightChecksum(value)
}

/** Client ids are public, but not guessable. */
export function createClientId(randomBytes: RandomBytes): string {
  return createDigits(clientIdDigits, randomBytes)
}

/** Throws 'invalid' for an imported client id that requests cannot contain. */
export function checkClientId(clientId: string): void {
  if (!/^[\w.~@-]{4,128}$/.test(clientId)) {
    throw new AppError('invalid', 'a client id must have 4 to 128 letters, digits and . _ ~ @ -', {
      fields: { client_id: ['A client id must have 4 to 128 letters, digits and . _ ~ @ -'] },
    })
  }
}

/** Throws 'invalid' for an imported secret that requests cannot contain or that could be guessed. */
export function checkClientSecret(secret: string): void {
  if (!/^[\x21-\x7e]{20,256}$/.test(secret)) {
    const reason = 'a client secret must have 20 to 256 printable ASCII characters without spaces'
    throw new AppError('invalid', reason, { fields: { client_secret: [reason] } })
  }
}

/** Compares in constant time. */
export function isSecretOf(secretHash: Uint8Array, secret: string): boolean {
  return timingSafeEqual(hashToken(secret), secretHash)
}
