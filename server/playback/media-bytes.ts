// The answer to a request for the bytes of one file, whole or in part (RFC 9110 14).

import { type ByteSpan, parseByteRange } from './byte-range.ts'

export type MediaBytes =
  | {
      readonly status: 200 | 206
      readonly firstByte: number
      readonly lastByte: number
      readonly totalBytes: number
      /** Holds a file open until it is read to its end or `return()` is called. */
      readonly body: AsyncGenerator<Uint8Array, void, void>
    }
  | { readonly status: 416; readonly totalBytes: number }

/** `range` is the Range header of the request. `open` returns the bytes of a range within `totalBytes`. */
export async function createMediaBytes(
  totalBytes: number,
  range: string | undefined,
  open: (span: ByteSpan) => Promise<AsyncGenerator<Uint8Array, void, void>>,
): Promise<MediaBytes> {
  const span = parseByteRange(range, totalBytes)
  if (span === 'unsatisfiable') return { status: 416, totalBytes }
  const { first, last } = span ?? { first: 0, last: totalBytes - 1 }
  const body = await open({ first, last })
  return { status: span ? 206 : 200, firstByte: first, lastByte: last, totalBytes, body }
}

/** A body that consists of a single chunk. */
export async function* createChunkBody(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield bytes
}
