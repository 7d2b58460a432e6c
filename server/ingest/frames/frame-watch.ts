// Notices that a camera whose connection stands gives no pictures. Pictures count, not bytes: a camera may send audio,
// reports or rubbish for ever.

import { CameraError } from '../network/camera-error.ts'

export type FrameCounts = {
  /** Pictures that came, published or not. */
  readonly pictures: number
  /** Of these, those that could be published. */
  readonly published: number
}

export type FrameWatchLimits = {
  /** Longest time without a picture. */
  readonly pictureMs: number
  /** Longest time without one that could be published: as long as from one key frame to the next, and a little more. */
  readonly keyFrameMs: number
}

/** What is missing for a picture to be published, and what its owner can do. */
export type Lacking = { readonly what: string; readonly hint: string }

export class FrameWatch {
  readonly #limits: FrameWatchLimits
  #counts: FrameCounts = { pictures: 0, published: 0 }
  #pictureMs: number
  #publishedMs: number

  /** Times are monotonic. */
  constructor(limits: FrameWatchLimits, nowMs: number) {
    this.#limits = limits
    this.#pictureMs = nowMs
    this.#publishedMs = nowMs
  }

  /** @throws CameraError when it has been too long */
  check({ pictures, published }: FrameCounts, nowMs: number, lacking: Lacking): void {
    const { pictureMs, keyFrameMs } = this.#limits
    if (pictures !== this.#counts.pictures) this.#pictureMs = nowMs
    if (published !== this.#counts.published) this.#publishedMs = nowMs
    this.#counts = { pictures, published }
    const silentMs = nowMs - this.#pictureMs
    if (silentMs >= pictureMs) {
      const detail =
        pictures === 0
          ? `The camera accepted the connection but sent no picture within ${pictureMs / 1000} s: restart the camera if it stays so.`
          : `The camera stopped sending pictures for ${Math.round(silentMs / 1000)} s.`
      throw new CameraError('no_frames', detail)
    }
    if (nowMs - this.#publishedMs >= keyFrameMs) {
      throw describeLacking(keyFrameMs, lacking)
    }
  }
}

export function describeLacking(ms: number, { what, hint }: Lacking): CameraError {
  return new CameraError('no_frames', `The camera sent ${what} within ${ms / 1000} s: ${hint}.`)
}
