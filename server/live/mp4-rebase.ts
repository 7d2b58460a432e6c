// Moves the fragments of a run so that one viewer's time begins at 0: players of a file that grows expect that, and a run that
// began hours ago is far from it. Pieces are shared by all viewers, so each is copied for each.
//
// A viewer that comes in the middle of a long group of pictures is given it from its key frame on. What of it is old is shown in
// no time, without its sound: the viewer is not behind for as long as the group is.

import { parseBoxHeader } from '../media/mp4/box-scanner.ts'
import { clearCompositionOffsets, parseMovieFragment, shiftDecodeTimes } from '../media/mp4/fragment-head.ts'
import { videoTimescale, videoTrackId } from '../media/mp4/init-segment.ts'

/** At the start, pictures older than this are hurried. */
const maxAgeMs = 1500
const hurried90k = 90

export class Mp4Rebase {
  readonly #audioRate: number
  /** What is taken off all times: where the viewer began, and the time it was spared. */
  #shift90k: number | undefined
  #last90k = 0
  #isCatchingUp = true

  /** `audioRate`: timescale of the sound track, if there is one. */
  constructor(audioRate: number | undefined) {
    this.#audioRate = audioRate ?? videoTimescale
  }

  /**
   * The fragment of one frame, which the camera saw `ageMs` ago, in the viewer's time. Undefined for sound from before its first
   * picture, or of pictures that are hurried.
   */
  rebase(fragment: Uint8Array, ageMs: number): Uint8Array | undefined {
    const moofBytes = parseBoxHeader(fragment)!.bytes
    const [track] = parseMovieFragment(fragment.subarray(0, moofBytes)).tracks
    if (!track) return undefined
    if (ageMs <= maxAgeMs) this.#isCatchingUp = false
    const shift =
      track.trackId === videoTrackId ? this.#shiftPicture(track.baseDecodeTime) : this.#shiftSound(track.baseDecodeTime)
    if (shift === undefined) return undefined
    const copy = fragment.slice()
    const moof = copy.subarray(0, moofBytes)
    shiftDecodeTimes(moof, () => -shift)
    // Where pictures are reordered, they would be shown long after those that are not hurried.
    if (this.#isCatchingUp) clearCompositionOffsets(moof)
    return copy
  }

  #shiftPicture(time90k: number): number {
    this.#shift90k ??= time90k
    if (this.#isCatchingUp && time90k > this.#shift90k) {
      this.#shift90k = Math.max(this.#shift90k, time90k - this.#last90k - hurried90k)
    }
    this.#last90k = time90k - this.#shift90k
    return this.#shift90k
  }

  #shiftSound(time: number): number | undefined {
    if (this.#shift90k === undefined || this.#isCatchingUp) return undefined
    const shift = Math.round((this.#shift90k * this.#audioRate) / videoTimescale)
    return time >= shift ? shift : undefined
  }
}
