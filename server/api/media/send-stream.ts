// Sends a stream that has no end to one client, at the pace of that client: the next chunk is asked for when the last one has
// left, so that waiting chunks are the business of the stream's own bounded queue and never pile up in the connection.

import type { ServerResponse } from 'node:http'
import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { hasDrained } from '../transport/drained.ts'

export type SendStreamOptions = {
  /** Aborts with the connection and with the right to watch, see open-streams.ts. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** The head has announced how long it is. */
  readonly hasLength?: boolean
}

/**
 * Resolves when the stream or the connection has ended; never rejects. A stream that fails breaks the connection off, because the
 * status is out already.
 */
export async function sendStream(
  response: ServerResponse,
  chunks: AsyncIterable<Uint8Array>,
  { signal, log, hasLength = false }: SendStreamOptions,
): Promise<void> {
  // A quiet camera is no reason to hang up; a stalled client is, below.
  response.setTimeout(0)
  // HTTP/2: a stream the client resets without an error is closed only once its request has been read to the end.
  response.req.resume()
  try {
    for await (const chunk of chunks) {
      if (signal.aborted) break
      if (!response.write(chunk) && !(await hasDrained(response, signal))) break
    }
    // The announced length cannot be kept: only breaking off tells the client that there is nothing more to wait for.
    if (signal.aborted && hasLength) response.destroy()
    else response.end()
  } catch (error) {
    response.destroy()
    if (!signal.aborted && !isExpected(error)) log.error({ reason: errorChain(error) }, 'a live stream failed')
  }
}

/** The camera went away. */
const isExpected = (error: unknown): boolean => error instanceof AppError && error.kind === 'unavailable'
