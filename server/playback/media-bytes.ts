// The answer to a request for the bytes of one file, whole or in part (RFC 9110 14).

import { type ByteSpan, parseByteRange } from './byte-range.ts'

/**
 * The bytes of an answer, in order. It may hold a file open until it is disposed of. The reader brings the memory, so that
 * sending any amount of bytes takes the same buffer again and again. With memory that was allocated for each read, the
 * collector of V8 took half of the time.
 */
export type MediaBody = AsyncDisposable & {
  /**
   * Fills `target` from its beginning, not always to its end. Returns the number of bytes; 0 at the end of the body.
   * Throws 'corrupt' when a file does not match the index, and 'not_found' when it is gone.
   */
  read(target: Uint8Array): Promise<number>
}

export type MediaBytes =
  | {
      readonly status: 200 | 206
      readonly firstByte: number
      readonly lastByte: number
      readonly totalBytes: number
      readonly body: MediaBody
    }
  | { readonly status: 416; readonly totalBytes: number }

/** `range` is the Range header of the request. `open` returns the bytes of a range within `totalBytes`. */
export async function createMediaBytes(
  totalBytes: number,
  range: string | undefined,
  open: (span: ByteSpan) => Promise<MediaBody>,
): Promise<MediaBytes> {
  const span = parseByteRange(range, totalBytes)
  if (span === 'unsatisfiable') return { status: 416, totalBytes }
  const { first, last } = span ?? { first: 0, last: totalBytes - 1 }
  const body = await open({ first, last })
  return { status: span ? 206 : 200, firstByte: first, lastByte: last, totalBytes, body }
}

/** A body of bytes in memory. */
export class BytesBody implements MediaBody {
  #rest: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#rest = bytes
  }

  async read(target: Uint8Array): Promise<number> {
    const bytes = this.#rest.subarray(0, target.length)
    target.set(bytes)
    this.#rest = this.#rest.subarray(bytes.length)
    return bytes.length
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** One body after the other. */
export class JoinedBody implements MediaBody {
  readonly #bodies: readonly MediaBody[]
  #current = 0

  constructor(bodies: readonly MediaBody[]) {
    this.#bodies = bodies
  }

  async read(target: Uint8Array): Promise<number> {
    for (; this.#current < this.#bodies.length; this.#current++) {
      const bytes = await this.#bodies[this.#current]!.read(target)
      if (bytes > 0) return bytes
    }
    return 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const body of this.#bodies) await body[Symbol.asyncDispose]()
  }
}
