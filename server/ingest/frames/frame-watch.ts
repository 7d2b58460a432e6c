// Detects that a connected camera sends no frames. It counts frames and not bytes, because a camera may send audio,
// reports or invalid data forever.

import { CameraError } from '../network/camera-error.ts'

export type FrameCounts = {
  /** The number of frames that arrived, published or not. */
  readonly frames: number
  /** The number of frames that were published. */
  readonly published: number
}

export type FrameWatchLimits = {
  /** The longest time without a frame, from a camera that answers nothing either. */
  readonly frameMs: number
  /** The longest time without a frame from a camera that answers requests. Some send a frame each 15 s. */
  readonly answeringMs: number
  /** The longest time without a published frame: a little more than the longest interval between key frames. */
  readonly keyFrameMs: number
}

/** What is missing before a frame can be published, and what the owner can do about it. */
export type MissingData = { readonly what: string; readonly hint: string }

export class FrameWatch {
  readonly #limits: FrameWatchLimits
  #counts: FrameCounts = { frames: 0, published: 0 }
  #frameMs: number
  #publishedMs: number

  /** All times are monotonic. */
  constructor(limits: FrameWatchLimits, nowMs: number) {
    this.#limits = limits
    this.#frameMs = nowMs
    this.#publishedMs = nowMs
  }

  /** How long the camera has sent no frame. */
  silentMs(nowMs: number): number {
    return nowMs - this.#frameMs
  }

  /**
   * `answeredMs`: when the camera last answered a request besides its stream.
   * @throws CameraError if the camera has sent no frames, or none that can be published, for too long
   */
  check({ frames, published }: FrameCounts, nowMs: number, missing: MissingData, answeredMs = -Infinity): void {
    const { frameMs, answeringMs, keyFrameMs } = this.#limits
    if (frames !== this.#counts.frames) this.#frameMs = nowMs
    if (published !== this.#counts.published) this.#publishedMs = nowMs
    this.#counts = { frames, published }
    const silentMs = this.silentMs(nowMs)
    if (silentMs >= answeringMs || (silentMs >= frameMs && nowMs - answeredMs >= frameMs)) {
      const detail =
        frames === 0
          ? `The camera accepted the connection but sent no frames within ${(silentMs >= answeringMs ? answeringMs : frameMs) / 1000} s: restart the camera if the problem persists.`
          : `The camera has sent no frames for ${Math.round(silentMs / 1000)} s.`
      throw new CameraError('no_frames', detail)
    }
    if (nowMs - this.#publishedMs >= keyFrameMs) {
      throw describeMissingData(keyFrameMs, missing)
    }
  }
}

export function describeMissingData(ms: number, { what, hint }: MissingData): CameraError {
  return new CameraError('no_frames', `The camera sent ${what} within ${ms / 1000} s: ${hint}.`)
}
