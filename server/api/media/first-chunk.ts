// Waits for the first chunk of a stream before responding, so that an offline camera is a 503 and not an endless empty
// 200.

import { AppError } from '../../base/error.ts'

/** The first chunk, and all of them, once the first one exists. Throws 'unavailable', or the error of the stream. */
export async function awaitFirstChunk<T>(chunks: AsyncIterable<T>): Promise<{ first: T; all: AsyncIterable<T> }> {
  const iterator = chunks[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done) throw new AppError('unavailable', 'the stream ended before it began')
  return { first: first.value, all: resume(first.value, iterator) }
}

async function* resume<T>(first: T, iterator: AsyncIterator<T>): AsyncGenerator<T> {
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
