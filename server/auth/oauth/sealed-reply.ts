// The answer to a refresh, kept for a moment for a client that lost it. Sealed under the refresh token that was sent and the key
// that came with it, neither of which is kept: to whoever reads the database it is noise.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
const purpose = 'nightjar refresh reply'

/** Nonce, text, tag. */
export function sealReply(text: string, refreshToken: string, idempotencyKey: string): Uint8Array {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, deriveKey(refreshToken, idempotencyKey), nonce)
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** Undefined when it was sealed under another token or key. */
export function openReply(sealed: Uint8Array, refreshToken: string, idempotencyKey: string): string | undefined {
  const end = sealed.length - tagBytes
  const key = deriveKey(refreshToken, idempotencyKey)
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAuthTag(sealed.subarray(end))
  try {
    const head = decipher.update(sealed.subarray(nonceBytes, end))
    return Buffer.concat([head, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

function deriveKey(refreshToken: string, idempotencyKey: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', refreshToken, idempotencyKey, purpose, keyBytes))
}
