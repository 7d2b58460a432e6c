// The live views of all cameras on the main thread. HTTP and authorization belong to the API.

import { ByteBudget } from '../base/byte-budget.ts'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import { DropLog } from './drop-log.ts'
import type { KeyFrameDecoder } from './key-frame-images.ts'
import { LiveCamera, type LiveCameraOptions, type LiveCameraStats } from './live-camera.ts'
import type { LiveSubscriber, LiveSubscription } from './live-subscriber.ts'

export type { LiveSubscriber, LiveSubscription }

export type LiveStreamsOptions = {
  readonly subscriber: LiveSubscriber
  readonly decoder: KeyFrameDecoder
  readonly clock: Clock
  readonly log: Logger
  /** How many bytes a viewer may lag behind before it continues at the next key frame. */
  readonly maxViewerBytes?: number
  /** Bytes kept per camera and format so that a new viewer starts at once, and of all together. */
  readonly maxRetainedBytes?: number
  readonly maxTotalRetainedBytes?: number
  /** Limit for the HLS segments of all cameras together, in bytes. */
  readonly maxTotalHlsBytes?: number
  /** How long a subscription outlives its last viewer. */
  readonly lingerMs?: number
  /** How long a new viewer waits for a camera that sends nothing. */
  readonly firstTimeoutMs?: number
  readonly snapshotTimeoutMs?: number
  /** The interval of a camera's key frames; undefined if it is not known yet. A new viewer waits that much longer. */
  readonly keyIntervalMs?: (cameraId: number) => number | undefined
  /** An HLS stream is closed after this time without a request. */
  readonly hlsIdleMs?: number
}

export type LiveStats = LiveCameraStats & { readonly droppedChunks: number }

export class LiveStreams {
  readonly #shared: LiveCameraOptions
  readonly #cameras = new Map<number, LiveCamera>()

  constructor({
    log,
    maxTotalRetainedBytes = 512 * 1024 * 1024,
    maxTotalHlsBytes = 2048 * 1024 * 1024,
    ...options
  }: LiveStreamsOptions) {
    this.#shared = {
      drops: new DropLog(log, options.clock),
      retainedBudget: new ByteBudget(maxTotalRetainedBytes),
      hlsBudget: new ByteBudget(maxTotalHlsBytes),
      maxViewerBytes: 4 * 1024 * 1024,
      maxRetainedBytes: 64 * 1024 * 1024,
      lingerMs: 5000,
      firstTimeoutMs: 10_000,
      snapshotTimeoutMs: 5000,
      keyIntervalMs: () => 0,
      hlsIdleMs: 30_000,
      ...options,
    }
  }

  camera(id: number): LiveCamera {
    let camera = this.#cameras.get(id)
    if (!camera) {
      camera = new LiveCamera(id, this.#shared)
      this.#cameras.set(id, camera)
    }
    return camera
  }

  /** Disconnects all viewers of a camera that was removed. */
  closeCamera(id: number): void {
    this.#cameras.get(id)?.close()
    this.#cameras.delete(id)
  }

  close(): void {
    for (const id of [...this.#cameras.keys()]) this.closeCamera(id)
  }

  stats(): LiveStats {
    const total = {
      viewers: { mp4: 0, mpegts: 0, mjpeg: 0, hls: 0 },
      subscriptions: 0,
      retainedBytes: 0,
      droppedChunks: this.#shared.drops.total,
    }
    for (const camera of this.#cameras.values()) {
      const { viewers, subscriptions, retainedBytes } = camera.stats()
      for (const format of ['mp4', 'mpegts', 'mjpeg', 'hls'] as const) total.viewers[format] += viewers[format]
      total.subscriptions += subscriptions
      total.retainedBytes += retainedBytes
    }
    return total
  }
}
