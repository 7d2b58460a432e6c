// The first pictures of a run, held back until it is known whether the camera sends the sound it offers: a stream that says it has
// sound and has none makes browsers wait for it for ever.

import type { Frame, VideoFormat } from '../media/frame.ts'

/** Sound that has not come after this much video is not coming. */
const maxHeld90k = 45_000
const maxHeldBytes = 4 * 1024 * 1024

export class HeldStart {
  /** Of the run. */
  readonly format: VideoFormat
  /** The first is the key frame that begins the run. */
  readonly frames: Frame[] = []
  #bytes = 0

  constructor(format: VideoFormat) {
    this.format = format
  }

  /** Returns true when nothing more is waited for: the frame is sound, or enough came without. */
  add(frame: Frame): boolean {
    this.frames.push(frame)
    this.#bytes += frame.data.length
    const length90k = frame.dts90k - this.frames[0]!.dts90k
    return frame.kind === 'audio' || length90k >= maxHeld90k || this.#bytes >= maxHeldBytes
  }
}
