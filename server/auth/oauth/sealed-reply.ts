// The answer to a refresh, kept for a moment for a client that lost it. It is sealed under the refresh token that was
// sent and the key that came with it. Neither is stored, so nobody can read the answer from the database.

import { hkdfSync } from 'node:crypto'
import { SealedBox } from '../../base/sealed-box.ts'

const keyBytes = 32
const purpose = 'nightjar refresh reply'

export function sealReply(text: string, refreshToken: string, idempotencyKey: string): Uint8Array {
  return createBox(refreshToken, idempotencyKey).seal(text, purpose)
}

/** Returns undefined if the answer was sealed under another token or key. */
export function unsealReply(sealed: Uint8Array, refreshToken: string, idempotencyKey: string): string | undefined {
  try {
    return createBox(refreshToken, idempotencyKey).unseal(sealed, purpose)
  } catch {
    return undefined
  }
}

function createBox(refreshToken: string, idempotencyKey: string): SealedBox {
  return new SealedBox(new Uint8Array(hkdfSync('sha256', refreshToken, idempotencyKey, purpose, keyBytes)))
}
