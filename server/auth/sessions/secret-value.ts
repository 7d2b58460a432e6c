// The value of a cookie: 256 random bits. The server stores their SHA-256. Forms contain a token that is derived from
// the value.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 43 characters of base64url. */
export function createSecretValue(): string {
  return randomBytes(32).toString('base64url')
}

export function looksSecret(value: string): boolean {
  return /^[\w-]{43}$/.test(value)
}

/** The hash that is stored. 256 bits cannot be guessed, so it needs neither a salt nor a slow hash. */
export function hashSecretValue(value: string): Uint8Array {
  return createHash('sha256').update(value).digest()
}

/**
 * The token of every form that is shown to the browser with this cookie. Other sites can make the browser send the
 * cookie, but cannot read the form and therefore do not know the token.
 */
export function formTokenOf(value: string): string {
  return createHash('sha256').update(`form token of ${value}`).digest('base64url')
}

/** Compares in constant time. */
export function isFormToken(value: string, token: string): boolean {
  const expected = Buffer.from(formTokenOf(value))
  const found = Buffer.from(token)
  return found.length === expected.length && timingSafeEqual(found, expected)
}
