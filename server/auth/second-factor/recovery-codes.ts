// Recovery codes for users who lost their phone and keys. Each works once. Only their hashes are stored.

import { hashToken, type RandomBytes } from '../checked-token.ts'
import { createTypedCode, parseTypedCode } from '../typed-code.ts'

const count = 10
/** 100 bits cannot be guessed, so a slow hash is not needed. */
const digits = 20

/** Returns the codes as they are shown. `randomBytes` must be cryptographically secure. */
export function createRecoveryCodes(randomBytes: RandomBytes): string[] {
  return Array.from({ length: count }, () => createTypedCode(digits, randomBytes))
}

/** Returns a SHA-256 that is specific to the account, however the code was typed, or undefined if it is malformed. */
export function hashRecoveryCode(userId: number, text: string): Uint8Array | undefined {
  const found = parseTypedCode(digits, text)
  return found === undefined ? undefined : hashToken(`recovery ${userId} ${found}`)
}
