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
  if (isGone(response) || signal?.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const settle = (isDrained: boolean) => {
      clearTimeout(timer)
      response.off('drain', onDrain)
      response.off('close', onClose)
      signal?.removeEventListener('abort', cut)
      resolve(isDrained)
    }
    const onDrain = () => settle(true)
    const onClose = () => settle(false)
    const cut = () => {
      response.destroy()
      settle(false)
    }
    const timer = setTimeout(() => {
      cutOff(response)
      settle(false)
    }, maxStallMs)
    signal?.addEventListener('abort', cut)
    response.once('drain', onDrain)
    response.once('close', onClose)
  })
}
