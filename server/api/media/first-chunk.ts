// Waits for the first chunk of a stream before responding, so that an offline camera is a 503 and not an endless empty
// 200.

import { AppError } from '../../base/error.ts'

/** The same chunks, once the first one exists. Throws 'unavailable', or the error of the stream. */
export async function awaitFirstChunk(chunks: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const iterator = chunks[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done) throw new AppError('unavailable', 'the stream ended before it began')
  return resume(first.value, iterator)
}

async function* resume(first: Uint8Array, iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first
    for (;;) {
      const next = await iterator.next()
      if (next.done) return
      yield next.value
    }
  } finally {
    await iterator.return?.()
  }
}
