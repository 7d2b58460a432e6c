// Shifts the timestamps of a run so that one viewer's time begins at 0. Players of a growing file expect that, but the
// run may have begun hours ago. All viewers share the chunks, so each viewer gets a modified copy.
//
// A viewer who joins in the middle of a long group of pictures gets the group from its key frame on. The old part of
// the group plays many times faster and without audio, so that the viewer catches up. Decode and presentation times go
// through the same increasing function, so reordered frames keep their order.

import { parseBoxHeader } from '../media/mp4/box-scanner.ts'
import { mapCompositionOffsets, parseMovieFragment, shiftDecodeTimes } from '../media/mp4/fragment-head.ts'
import { videoTimescale, videoTrackId } from '../media/mp4/init-segment.ts'

/** Frames older than this when the viewer joins are sped up. */
const maxAgeMs = 1500
/** The speed-up factor: at 25 frames per second, one frame per millisecond. */
const catchUpSpeed = 40

export class Mp4Rebase {
  readonly #audioRate: number
  /** Decode time of the viewer's first frame. Both times are on the run's time axis. */
  #start90k: number | undefined
  #catchUpUntil90k = 0
  #lastDts90k = -1

  /** `audioRate` is the timescale of the audio track, if there is one. */
  constructor(audioRate: number | undefined) {
    this.#audioRate = audioRate ?? videoTimescale
  }

  /**
   * Moves the fragment of one frame, which the camera captured `ageMs` ago, to the viewer's time. Undefined for audio
   * that precedes the first video frame or belongs to frames that are played faster to catch up.
   */
  rebase(fragment: Uint8Array, ageMs: number): Uint8Array | undefined {
    const moofBytes = parseBoxHeader(fragment)!.bytes
    const [track] = parseMovieFragment(fragment.subarray(0, moofBytes)).tracks
    if (!track) return undefined
    const isVideo = track.trackId === videoTrackId
    if (isVideo && this.#start90k === undefined) this.#begin(track.baseDecodeTime, ageMs)
    const time = isVideo ? this.#placeVideo(track.baseDecodeTime) : this.#placeAudio(track.baseDecodeTime)
    if (time === undefined) return undefined
    const copy = fragment.slice()
    const moof = copy.subarray(0, moofBytes)
    shiftDecodeTimes(moof, () => time - track.baseDecodeTime)
    if (isVideo && track.baseDecodeTime < this.#catchUpUntil90k) {
      mapCompositionOffsets(moof, (offset) => this.#map(track.baseDecodeTime + offset) - time)
    }
    return copy
  }

  #begin(dts90k: number, ageMs: number): void {
    this.#start90k = dts90k
    this.#catchUpUntil90k = dts90k + Math.max(0, Math.round((ageMs - maxAgeMs) * 90))
  }

  /** From the run's time to the viewer's, in 90 kHz. */
  #map(time90k: number): number {
    const start90k = this.#start90k!
    const catchUp90k = Math.min(time90k, this.#catchUpUntil90k) - start90k
    return Math.round(catchUp90k / catchUpSpeed) + Math.max(0, time90k - this.#catchUpUntil90k)
  }

  #placeVideo(dts90k: number): number {
    this.#lastDts90k = Math.max(this.#map(dts90k), this.#lastDts90k + 1)
    return this.#lastDts90k
  }

  #placeAudio(time: number): number | undefined {
    if (this.#start90k === undefined) return undefined
    const catchUpUntil = (this.#catchUpUntil90k * this.#audioRate) / videoTimescale
    if (time < catchUpUntil) return undefined
    const shift90k = this.#catchUpUntil90k - this.#map(this.#catchUpUntil90k)
    return time - Math.round((shift90k * this.#audioRate) / videoTimescale)
  }
}
