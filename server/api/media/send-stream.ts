// Sends a stream or a file as fast as the client reads it: the next chunk is requested when the last one has been sent.
// Waiting chunks of a stream stay in its own bounded queue and never accumulate in the connection.

import type { ServerResponse } from 'node:http'
import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import type { MediaBody } from '../../playback/media-bytes.ts'
import { hasDrained, isGone, isWritten } from '../transport/drained.ts'
import { lineIsFree } from '../transport/line-delay.ts'
import { waitPatiently } from '../transport/stalled-clients.ts'

export type SendStreamOptions = {
  /** Aborts with the connection and with the viewer's access, see open-streams.ts. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Sends what follows the stream once that has ended. */
  readonly goOn?: (() => Promise<void>) | undefined
}

/**
 * Resolves when the stream or the connection has ended; never rejects. If a stream fails, the connection is closed,
 * because the status has already been sent.
 */
export async function sendStream(
  response: ServerResponse,
  chunks: AsyncIterable<Uint8Array>,
  { signal, log, goOn }: SendStreamOptions,
): Promise<void> {
  // A quiet camera is no reason to disconnect; a stalled client is, see below.
  response.setTimeout(0)
  // HTTP/2: a stream that the client resets without an error is closed only after its request has been read completely.
  response.req.resume()
  try {
    for await (const chunk of chunks) {
      if (signal.aborted) break
      await lineIsFree(response, chunk.length, signal)
      if (!response.write(chunk) && !(await hasDrained(response, signal))) break
    }
    if (goOn && !signal.aborted && !isGone(response)) await goOn()
    response.end()
  } catch (error) {
    response.destroy()
    if (!signal.aborted && !isExpected(error)) log.error({ reason: errorChain(error) }, 'a live stream failed')
  }
}

const fileChunkBytes = 256 * 1024
/** So many are kept for the next files. */
const maxFreeBuffers = 32
const freeBuffers: Uint8Array[] = []

/**
 * Sends the bytes of a file, whose length was announced, from one buffer that is used again. Closes the file. Resolves
 * when all is sent or the connection has ended; never rejects. If the file cannot be read, or the viewer has lost access,
 * the connection is closed: only this tells the client that nothing more will come.
 */
export async function sendFile(
  response: ServerResponse,
  body: MediaBody,
  { signal, log }: SendStreamOptions,
): Promise<void> {
  response.setTimeout(0)
  response.req.resume()
  const buffer = freeBuffers.pop() ?? new Uint8Array(fileChunkBytes)
  using _patience = waitPatiently(response.req)
  try {
    await using _ = body
    for (;;) {
      const bytes = await body.read(buffer)
      if (bytes === 0) break
      // What was not written whole may still be needed, so the buffer is given up.
      if (!(await isWritten(response, buffer.subarray(0, bytes), signal))) return void response.destroy()
    }
    response.end()
    if (freeBuffers.length < maxFreeBuffers) freeBuffers.push(buffer)
  } catch (error) {
    response.destroy()
    if (!signal.aborted && !isExpected(error)) log.error({ reason: errorChain(error) }, 'sending a recording failed')
  }
}

/** The camera disconnected, or too many recordings are being sent. */
const isExpected = (error: unknown): boolean => error instanceof AppError && error.kind === 'unavailable'
