// Messages in a byte stream: each is preceded by its length in 4 bytes, big-endian.

import { AppError } from '../base/error.ts'

/** The maximum length of a message. A larger length means that the stream is broken. */
export const maxMessageBytes = 64 * 1024 * 1024

/** Splits a byte stream into messages, however the stream is split into chunks. */
export class MessageReader {
  #chunks: Uint8Array[] = []
  #bytes = 0

  /**
   * Returns the messages that these bytes complete, without their lengths. Throws 'corrupt' for a length above the
   * limit.
   */
  push(chunk: Uint8Array): Uint8Array[] {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    const messages: Uint8Array[] = []
    for (;;) {
      if (this.#bytes < 4) return messages
      const length = this.#peekLength()
      if (length > maxMessageBytes) {
        throw new AppError('corrupt', `expected a message of at most ${maxMessageBytes} bytes, got ${length}`)
      }
      if (this.#bytes < 4 + length) return messages
      const all = this.#join()
      messages.push(all.subarray(4, 4 + length))
      this.#chunks = [all.subarray(4 + length)]
      this.#bytes -= 4 + length
    }
  }

  #peekLength(): number {
    // A length that is split over two chunks is rare, so joining costs little.
    const first = this.#chunks[0]!.length >= 4 ? this.#chunks[0]! : this.#join()
    return new DataView(first.buffer, first.byteOffset, 4).getUint32(0)
  }

  #join(): Uint8Array {
    if (this.#chunks.length > 1) {
      const all = new Uint8Array(this.#bytes)
      let at = 0
      for (const chunk of this.#chunks) {
        all.set(chunk, at)
        at += chunk.length
      }
      this.#chunks = [all]
    }
    return this.#chunks[0]!
  }
}
