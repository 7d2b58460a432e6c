// Secrets inside rows: AES-256-GCM (NIST SP 800-38D) under a key that is not in the database. Layout: format (1 byte) |
// nonce (12) | tag (16) | ciphertext. The context is authenticated, so that a sealed value moved to another row does
// not open.

import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { AppError } from '../../base/error.ts'

const format = 1
const nonceBytes = 12
const tagBytes = 16
const headBytes = 1 + nonceBytes + tagBytes

export class SealedBox {
  readonly #key: KeyObject

  /** `key`: 32 bytes that are used for nothing else. */
  constructor(key: Uint8Array) {
    this.#key = createSecretKey(key)
  }

  seal(text: string, context: string): Uint8Array {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: tagBytes })
    cipher.setAAD(Buffer.from(context))
    const ciphertext = [cipher.update(text, 'utf8'), cipher.final()]
    return Buffer.concat([Uint8Array.of(format), nonce, cipher.getAuthTag(), ...ciphertext])
  }

  /** Throws 'corrupt' if the bytes, the context or the key differ from those of `seal`. */
  open(sealed: Uint8Array, context: string): string {
    if (sealed.length < headBytes || sealed[0] !== format) {
      throw new AppError('corrupt', `a sealed value (${context}) has an unknown format`)
    }
    const nonce = sealed.subarray(1, 1 + nonceBytes)
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(context))
    decipher.setAuthTag(sealed.subarray(1 + nonceBytes, headBytes))
    try {
      return Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()]).toString('utf8')
    } catch (error) {
      throw new AppError(
        'corrupt',
        `a sealed value (${context}) was modified, or secret.key is not the one it was sealed with`,
        { cause: error },
      )
    }
  }
}
