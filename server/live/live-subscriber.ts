// How viewers subscribe to live sources, which run in other threads.

import type { LiveChunk, LiveFormat } from './live-chunk.ts'

export type LiveSubscription = {
  /** Acknowledges bytes of `chunk.data`, so that the source can send more. */
  ack(bytes: number): void
  /** Ends the subscription. `onChunk` is not called again. */
  close(): void
}

/**
 * Opens a subscription whose chunks are acknowledged as soon as `onChunk` has returned. Returns a function that ends
 * it; `onChunk` is not called afterwards.
 */
export function receiveChunks(
  subscribe: (onChunk: (chunk: LiveChunk) => void) => LiveSubscription,
  onChunk: (chunk: LiveChunk) => void,
): () => void {
  // The first chunks may come before `subscribe` has returned.
  let early = 0
  let isOpen = true
  let subscription: LiveSubscription | undefined
  subscription = subscribe((chunk) => {
    if (!isOpen) return
    if (subscription) subscription.ack(chunk.data.length)
    else early += chunk.data.length
    onChunk(chunk)
  })
  if (early > 0) subscription.ack(early)
  return () => {
    isOpen = false
    subscription.close()
  }
}

export type LiveSubscriber = {
  /**
   * Opens a source for this camera and format. `onChunk` must not throw. The subscription stays open while the camera
   * is offline: an `end` chunk arrives, and later an `init` chunk. An offline or unknown camera produces no chunks.
   */
  subscribe(
    cameraId: number,
    format: LiveFormat,
    onChunk: (chunk: LiveChunk) => void,
    options?: { minIntervalMs?: number },
  ): LiveSubscription
}
