// What a cookie holds: 256 random bits. The server keeps their SHA-256; forms that belong to the cookie carry another one.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 43 characters of base64url. */
export function createSecretValue(): string {
  return randomBytes(32).toString('base64url')
}

export function looksSecret(value: string): boolean {
  return /^[\w-]{43}$/.test(value)
}

/** What is stored. Nobody guesses 256 bits, so no salt and no slow hash. */
export function hashSecretValue(value: string): Uint8Array {
  return createHash('sha256').update(value).digest()
}

/**
 * The token of every form shown to the browser that holds this cookie. Whoever has not read the form cannot know it: another
 * site's page can make the browser send the cookie, but cannot read it.
 */
export function formTokenOf(value: string): string {
  return createHash('sha256').update(`form token of ${value}`).digest('base64url')
}

/** In constant time. */
export function isFormToken(value: string, token: string): boolean {
  const expected = Buffer.from(formTokenOf(value))
  const found = Buffer.from(token)
  return found.length === expected.length && timingSafeEqual(found, expected)
}
