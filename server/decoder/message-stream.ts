// Messages in a stream of bytes: each behind its length in 4 bytes, big-endian.

import { AppError } from '../base/error.ts'

/** No message is longer; a length beyond this is a broken stream. */
export const maxMessageBytes = 64 * 1024 * 1024

/** Puts a byte stream back into messages, whatever the chunks it comes in. */
export class MessageReader {
  #chunks: Uint8Array[] = []
  #bytes = 0

  /** The messages completed by these bytes, without their lengths. Throws 'corrupt' for a length beyond the limit. */
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
    // Lengths split over chunks are rare: joining then costs little.
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
