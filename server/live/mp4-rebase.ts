// Moves the fragments of a run so that one viewer's time begins at 0: players of a file that grows expect that, and a run that
// began hours ago is far from it. Pieces are shared by all viewers, so each is copied for each.

import { parseBoxHeader } from '../media/mp4/box-scanner.ts'
import { parseMovieFragment, shiftDecodeTimes } from '../media/mp4/fragment-head.ts'
import { videoTimescale, videoTrackId } from '../media/mp4/init-segment.ts'

export class Mp4Rebase {
  readonly #audioRate: number
  #start90k: number | undefined

  /** `audioRate`: timescale of the sound track, if there is one. */
  constructor(audioRate: number | undefined) {
    this.#audioRate = audioRate ?? videoTimescale
  }

  /** The fragment in the viewer's time, or undefined for sound from before its first picture. */
  rebase(fragment: Uint8Array): Uint8Array | undefined {
    const moofBytes = parseBoxHeader(fragment)!.bytes
    const [track] = parseMovieFragment(fragment.subarray(0, moofBytes)).tracks
    if (!track) return undefined
    if (track.trackId === videoTrackId) this.#start90k ??= track.baseDecodeTime
    if (this.#start90k === undefined) return undefined
    const rate = track.trackId === videoTrackId ? videoTimescale : this.#audioRate
    const shift = -Math.round((this.#start90k * rate) / videoTimescale)
    if (track.baseDecodeTime + shift < 0) return undefined
    const copy = fragment.slice()
    shiftDecodeTimes(copy.subarray(0, moofBytes), () => shift)
    return copy
  }
}
