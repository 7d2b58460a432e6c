// What gets in when phone and keys are lost: codes on paper, each good once. Only their hashes are kept.

import { hashToken, type RandomBytes } from '../checked-token.ts'
import { createTypedCode, parseTypedCode } from '../typed-code.ts'

const count = 10
/** 100 bits: nobody guesses them, so no slow hash. */
const digits = 20

/** As they are shown. `randomBytes`: from a cryptographic source. */
export function createRecoveryCodes(randomBytes: RandomBytes): string[] {
  return Array.from({ length: count }, () => createTypedCode(digits, randomBytes))
}

/** SHA-256, of this account's alone, however it was typed; undefined for what cannot be one. */
export function hashRecoveryCode(userId: number, text: string): Uint8Array | undefined {
  const found = parseTypedCode(digits, text)
  return found === undefined ? undefined : hashToken(`recovery ${userId} ${found}`)
}
