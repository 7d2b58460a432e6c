// What one-time links carry, and where they lead. A link opens a page with a button; only the button uses the link up, because
// mail scanners open what they find.

import type { RandomBytes } from '../checked-token.ts'
import { createCheckedToken, hashToken } from '../checked-token.ts'
import { createTypedCode, parseTypedCode } from '../typed-code.ts'

const prefix = 'njln_'
const randomDigits = 43

/** Paths of the pages behind links. */
export const linkPaths = {
  setup: '/set-up/',
  invitation: '/invitation/',
  reset: '/reset/',
  email: '/email/',
} as const

/** 256 random bits. `randomBytes`: from a cryptographic source. */
export function createLinkToken(randomBytes: RandomBytes): string {
  return createCheckedToken(prefix, randomDigits, randomBytes)
}

/** SHA-256; undefined for what cannot be a link's. */
export function hashLinkToken(token: string): Uint8Array | undefined {
  return /^njln_[0-9A-Za-z]{49}$/.test(token) ? hashToken(token) : undefined
}

/** `publicUrl`: an origin. */
export function writeLink(publicUrl: string, kind: Exclude<keyof typeof linkPaths, 'setup'>, token: string): string {
  return `${publicUrl}${linkPaths[kind]}?token=${token}`
}

const setupCodeDigits = 25

/** 125 random bits that can be typed from a screen: five groups of five letters and digits. */
export function createSetupCode(randomBytes: RandomBytes): string {
  return createTypedCode(setupCodeDigits, randomBytes)
}

/** SHA-256 of a code however it was typed; undefined for what cannot be one. */
export function hashSetupCode(text: string): Uint8Array | undefined {
  const digits = parseTypedCode(setupCodeDigits, text)
  return digits === undefined ? undefined : hashToken(`setup ${digits}`)
}
