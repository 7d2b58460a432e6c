// How the viewers' side reaches the live sources, which run in other threads.

import type { LiveChunk, LiveFormat } from './live-chunk.ts'

export type LiveSubscription = {
  /** So many bytes of `chunk.data` were taken; the source sends on. */
  ack(bytes: number): void
  /** No chunk is given after this. */
  close(): void
}

export type LiveSubscriber = {
  /**
   * Opens a source for this camera and format. `onChunk` must not throw. Stays open while the camera is away: `end` and later
   * `init` tell. A camera that is away, or unknown, gives nothing.
   */
  subscribe(
    cameraId: number,
    format: LiveFormat,
    onChunk: (chunk: LiveChunk) => void,
    options?: { minIntervalMs?: number },
  ): LiveSubscription
}
