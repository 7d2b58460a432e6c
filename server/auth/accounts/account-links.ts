// Tokens and URLs of one-time links. A link opens a page with a button. Only the button uses the link up, because mail
// scanners open links.

import type { RandomBytes } from '../checked-token.ts'
import { createCheckedToken, hashToken } from '../checked-token.ts'
import { createTypedCode, parseTypedCode } from '../typed-code.ts'

const prefix = 'njln_'
const randomDigits = 43

/** The paths of the pages that links open. */
export const linkPaths = {
  setup: '/set-up/',
  invitation: '/invitation/',
  reset: '/reset/',
  email: '/email/',
} as const

/** Returns 256 random bits. `randomBytes` must be cryptographically secure. */
export function createLinkToken(randomBytes: RandomBytes): string {
  return createCheckedToken(prefix, randomDigits, randomBytes)
}

/** Returns the SHA-256, or undefined if the token is malformed. */
export function hashLinkToken(token: string): Uint8Array | undefined {
  return /^njln_[0-9A-Za-z]{49}$/.test(token) ? hashToken(token) : undefined
}

/** `publicUrl` is the public origin of the server. */
export function writeLink(publicUrl: string, kind: Exclude<keyof typeof linkPaths, 'setup'>, token: string): string {
  return `${publicUrl}${linkPaths[kind]}?token=${token}`
}

const setupCodeDigits = 25

/** Returns 125 random bits that people can type: five groups of five letters and digits. */
export function createSetupCode(randomBytes: RandomBytes): string {
  return createTypedCode(setupCodeDigits, randomBytes)
}

/** Returns the SHA-256 of a code, however it was typed, or undefined if it is malformed. */
export function hashSetupCode(text: string): Uint8Array | undefined {
  const digits = parseTypedCode(setupCodeDigits, text)
  return digits === undefined ? undefined : hashToken(`setup ${digits}`)
}
