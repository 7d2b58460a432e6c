// Waits for a client to take what it was sent. One that takes nothing for too long is cut off.

import type { ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'

/** A client that takes nothing for so long is gone. */
export const maxStallMs = 20_000

/** What a response of HTTP/2 has besides. */
type MaybeHttp2 = { readonly stream?: ServerHttp2Stream }

/** Whether the client left; the two versions of HTTP tell it in two ways. */
export function isGone(response: ServerResponse): boolean {
  return response.destroyed || (response as MaybeHttp2).stream?.destroyed === true
}

/**
 * For a client that stalls: a connection of HTTP/2 that carries something else besides ends after that, any other at
 * once.
 */
export function cutOff(response: ServerResponse): void {
  const session = (response as MaybeHttp2).stream?.session
  response.destroy()
  session?.close()
}

/**
 * False when the client went away, took nothing for too long, or is not to get any more: then it does not get what
 * waits either.
 */
export function hasDrained(response: ServerResponse, signal?: AbortSignal): Promise<boolean> {
  return settles(response, signal, maxStallMs, (onDrain) => response.once('drain', onDrain))
}

/**
 * A proxy may read a gigabyte of a file at once, and then nothing until its client has it. What waits are the bytes of
 * one buffer.
 */
const maxFileStallMs = 10 * 60_000

/** Writes bytes of a file. True when they are no longer needed; false as above. */
export function isWritten(response: ServerResponse, bytes: Uint8Array, signal: AbortSignal): Promise<boolean> {
  return settles(response, signal, maxFileStallMs, (onWritten) => {
    response.write(bytes, (error) => {
      if (!error) onWritten()
    })
  })
}

/** Resolves with true once `begin` calls back. */
function settles(
  response: ServerResponse,
  signal: AbortSignal | undefined,
  stallMs: number,
  begin: (onDone: () => void) => void,
): Promise<boolean> {
  if (isGone(response) || signal?.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const settle = (isDone: boolean) => {
      clearTimeout(timer)
      response.off('drain', onDone)
      response.off('close', onClose)
      signal?.removeEventListener('abort', cut)
      resolve(isDone)
    }
    const onDone = () => settle(true)
    const onClose = () => settle(false)
    const cut = () => {
      response.destroy()
      settle(false)
    }
    const timer = setTimeout(() => {
      cutOff(response)
      settle(false)
    }, stallMs)
    signal?.addEventListener('abort', cut)
    response.once('close', onClose)
    begin(onDone)
  })
}
