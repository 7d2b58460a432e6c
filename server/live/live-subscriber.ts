// The interface through which viewers subscribe to live sources, which run in other threads.

import type { LiveChunk, LiveFormat } from './live-chunk.ts'

export type LiveSubscription = {
  /** Acknowledges bytes of `chunk.data`, so that the source can send more. */
  ack(bytes: number): void
  /** Ends the subscription. `onChunk` is not called again. */
  close(): void
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
