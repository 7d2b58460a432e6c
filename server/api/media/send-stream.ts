// Sends an endless stream as fast as the client reads it: the next chunk is requested when the last one has been sent. Waiting
// chunks stay in the stream's own bounded queue and never accumulate in the connection.

import type { ServerResponse } from 'node:http'
import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { hasDrained } from '../transport/drained.ts'

export type SendStreamOptions = {
  /** Aborts with the connection and with the viewer's access, see open-streams.ts. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** True if a Content-Length was sent. */
  readonly hasLength?: boolean
}

/**
 * Resolves when the stream or the connection has ended; never rejects. If a stream fails, the connection is closed,
 * because the status has already been sent.
 */
export async function sendStream(
  response: ServerResponse,
  chunks: AsyncIterable<Uint8Array>,
  { signal, log, hasLength = false }: SendStreamOptions,
): Promise<void> {
  // A quiet camera is no reason to disconnect; a stalled client is, see below.
  response.setTimeout(0)
  // HTTP/2: a stream that the client resets without an error is closed only after its request has been read completely.
  response.req.resume()
  try {
    for await (const chunk of chunks) {
      if (signal.aborted) break
      if (!response.write(chunk) && !(await hasDrained(response, signal))) break
    }
    // The announced length cannot be met: only closing the connection tells the client that nothing more will come.
    if (signal.aborted && hasLength) response.destroy()
    else response.end()
  } catch (error) {
    response.destroy()
    if (!signal.aborted && !isExpected(error)) log.error({ reason: errorChain(error) }, 'a live stream failed')
  }
}

/** The camera disconnected. */
const isExpected = (error: unknown): boolean => error instanceof AppError && error.kind === 'unavailable'
