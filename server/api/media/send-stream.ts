// Sends a stream that has no end to one client, at the pace of that client: the next piece is asked for when the last one has
// left, so that waiting pieces are the business of the stream's own bounded queue and never pile up in the connection.

import type { ServerResponse } from 'node:http'
import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'

/** A client that takes nothing for so long is gone. */
export const maxStallMs = 20_000

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
  pieces: AsyncIterable<Uint8Array>,
  { signal, log, hasLength = false }: SendStreamOptions,
): Promise<void> {
  // A quiet camera is no reason to hang up; a stalled client is, below.
  response.setTimeout(0)
  // HTTP/2: a stream the client resets without an error is closed only once its request has been read to the end.
  response.req.resume()
  try {
    for await (const piece of pieces) {
      if (signal.aborted) break
      if (!response.write(piece) && !(await hasDrained(response, signal))) break
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

/** Whether the client left; the two versions of HTTP tell it in two ways. */
export function isGone(response: ServerResponse): boolean {
  return response.destroyed || (response as { stream?: { destroyed: boolean } }).stream?.destroyed === true
}

/** False when the client went away, took nothing for too long, or is not to get any more: then it does not get what waits either. */
function hasDrained(response: ServerResponse, signal: AbortSignal): Promise<boolean> {
  if (isGone(response) || signal.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const settle = (isDrained: boolean) => {
      clearTimeout(timer)
      response.off('drain', onDrain)
      response.off('close', onClose)
      signal.removeEventListener('abort', cut)
      resolve(isDrained)
    }
    const onDrain = () => settle(true)
    const onClose = () => settle(false)
    const cut = () => {
      response.destroy()
      settle(false)
    }
    const timer = setTimeout(cut, maxStallMs)
    signal.addEventListener('abort', cut)
    response.once('drain', onDrain)
    response.once('close', onClose)
  })
}
