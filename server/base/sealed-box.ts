// Seals small secrets with AES-256-GCM (NIST SP 800-38D). Layout: format (1 byte) | nonce (12) | tag (16) | ciphertext.
// The context is authenticated, so that a sealed value does not unseal in another place, such as another row.

import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { AppError } from './error.ts'

const algorithm = 'aes-256-gcm'
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

  /** Text is sealed as UTF-8. */
  seal(content: string | Uint8Array, context: string): Uint8Array {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, this.#key, nonce, { authTagLength: tagBytes })
    cipher.setAAD(Buffer.from(context))
    const ciphertext = [cipher.update(typeof content === 'string' ? Buffer.from(content) : content), cipher.final()]
    return Buffer.concat([Uint8Array.of(format), nonce, cipher.getAuthTag(), ...ciphertext])
  }

  /** Throws 'corrupt' if the bytes, the context or the key differ from those of `seal`. */
  unseal(sealed: Uint8Array, context: string): string {
    return this.unsealBytes(sealed, context).toString('utf8')
  }

  /** Like `unseal`, for content that is not text. */
  unsealBytes(sealed: Uint8Array, context: string): Buffer {
    if (sealed.length < headBytes || sealed[0] !== format) {
      throw new AppError('corrupt', `a sealed value (${context}) has an unknown format`)
    }
    const nonce = sealed.subarray(1, 1 + nonceBytes)
    const decipher = createDecipheriv(algorithm, this.#key, nonce, { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(context))
    decipher.setAuthTag(sealed.subarray(1 + nonceBytes, headBytes))
    try {
      return Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()])
    } catch (error) {
      throw new AppError(
        'corrupt',
        `a sealed value (${context}) was modified, or secret.key is not the one it was sealed with`,
        { cause: error },
      )
    }
  }
}
