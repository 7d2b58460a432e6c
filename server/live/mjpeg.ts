// Sends key-frame images to one MJPEG viewer: always the newest, at a limited rate, and never a backlog.

import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import type { ImageLimits } from '../media/image-size.ts'
import type { ImageViewer, KeyFrame, KeyFrameImages } from './key-frame-images.ts'

export type MjpegOptions = {
  readonly limits: ImageLimits
  /** The account of the viewer. Undefined for the server itself. */
  readonly account: number | undefined
  /** The minimum time between two images. 0 sends every key frame. */
  readonly intervalMs: number
  /** How long to wait for the first image. */
  readonly firstTimeoutMs: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** How long to wait for the next key frame before checking again. */
const longWaitMs = 3_600_000

/**
 * Yields JPEGs. The first is made at once from the newest key frame. Each later one waits until the rate allows it and
 * there is a newer key frame, even while the camera is offline. Ends when `signal` aborts or the camera is removed.
 * Throws 'unavailable' if there is no image in time. Frames that cannot be decoded are skipped.
 */
export async function* runMjpeg(images: KeyFrameImages, options: MjpegOptions): AsyncGenerator<Uint8Array, void, void> {
  const { limits, account, intervalMs, firstTimeoutMs, clock, signal } = options
  const viewer: ImageViewer = { limits, account, dueMs: clock.monotonicMs() }
  const firstByMs = clock.monotonicMs() + firstTimeoutMs
  let last: KeyFrame | undefined
  let hasSent = false
  images.viewers.add(viewer)
  try {
    while (!signal.aborted) {
      const nowMs = clock.monotonicMs()
      const frame = images.newest
      if (images.isClosed && hasSent) return
      if (frame === undefined || frame === last) {
        if (!hasSent && (nowMs >= firstByMs || images.isClosed)) {
          throw new AppError('unavailable', `the camera sent no key frame within ${firstTimeoutMs / 1000} s`)
        }
        await images.changed.wait(clock, hasSent ? longWaitMs : firstByMs - nowMs, signal)
      } else if (viewer.dueMs > nowMs) {
        await clock.sleep(viewer.dueMs - nowMs, signal)
      } else {
        last = frame
        const jpeg = await images.getImage(frame, viewer).catch(() => undefined)
        if (!jpeg || signal.aborted) continue
        viewer.dueMs = clock.monotonicMs() + intervalMs
        hasSent = true
        yield jpeg
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    images.viewers.delete(viewer)
  }
}
