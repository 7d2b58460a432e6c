// The pictures one MJPEG viewer is sent: at most so many key frames a second, always the newest, never a backlog.

import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import type { ImageLimits } from '../media/image-size.ts'
import type { ImageViewer, KeyFrame, KeyFrameImages } from './key-frame-images.ts'

export type MjpegOptions = {
  readonly limits: ImageLimits
  /** Who watches; undefined for the server itself. */
  readonly account: number | undefined
  /** Least time between two pictures; 0 for every key frame. */
  readonly intervalMs: number
  /** Wait for the first picture no longer than this. */
  readonly firstTimeoutMs: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** A camera that is away for longer than this between two looks is not worth a timer of its own. */
const longWaitMs = 3_600_000

/**
 * One JPEG per step. The first comes at once from the newest key frame; each next step waits until the rate allows it
 * and there is a newer one, also while the camera is away. Ends when `signal` aborts or the camera is removed. Throws
 * 'unavailable' when the first picture does not come in time. A frame that cannot be decoded is left out.
 */
export async function* runMjpeg(
  pictures: KeyFrameImages,
  options: MjpegOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const { limits, account, intervalMs, firstTimeoutMs, clock, signal } = options
  const viewer: ImageViewer = { limits, account, dueMs: clock.monotonicMs() }
  const firstByMs = clock.monotonicMs() + firstTimeoutMs
  let last: KeyFrame | undefined
  let hasSent = false
  pictures.viewers.add(viewer)
  try {
    while (!signal.aborted) {
      const nowMs = clock.monotonicMs()
      const frame = pictures.newest
      if (pictures.isClosed && hasSent) return
      if (frame === undefined || frame === last) {
        if (!hasSent && (nowMs >= firstByMs || pictures.isClosed)) {
          throw new AppError('unavailable', `the camera gave no picture within ${firstTimeoutMs / 1000} s`)
        }
        await pictures.changed.wait(clock, hasSent ? longWaitMs : firstByMs - nowMs, signal)
      } else if (viewer.dueMs > nowMs) {
        await clock.sleep(viewer.dueMs - nowMs, signal)
      } else {
        last = frame
        const jpeg = await pictures.picture(frame, viewer).catch(() => undefined)
        if (!jpeg || signal.aborted) continue
        viewer.dueMs = clock.monotonicMs() + intervalMs
        hasSent = true
        yield jpeg
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    pictures.viewers.delete(viewer)
  }
}
