// What a live source hands over and every viewer of one camera and format shares. Plain data: it crosses threads.

import type { StreamFormat } from '../media/frame.ts'

/**
 * `mp4` and `mpegts`: a chunk per frame, for the lowest delay. `hls`: a fragment per group of pictures, or a part of a long one.
 * `keyframes`: key frames as the camera sent them, for the decoder.
 */
export type LiveFormat = 'mp4' | 'mpegts' | 'hls' | 'keyframes'

export type LiveChunk = {
  /**
   * `init`: a run begins; what follows has one format and one time axis. `media`: pictures or audio. `gap`: chunks were dropped here,
   * a key chunk is next. `end`: the run is over, an `init` may follow when the camera returns.
   */
  readonly kind: 'init' | 'media' | 'gap' | 'end'
  /** A viewer may start here: it begins with a key frame. */
  readonly isKey: boolean
  /** Wall clock of the first frame, Unix milliseconds; 0 where there is none. */
  readonly wallMs: number
  /** `hls`: exact. `mp4`: as long as the frame before. Otherwise 0. */
  readonly durationMs: number
  /** Owned by the chunk, so that it can be transferred. `init`: `ftyp` and `moov` for mp4 and hls, otherwise empty. */
  readonly data: Uint8Array
  /**
   * `mp4`: a picture that a viewer who starts at the key chunk before it can't decode, and is not given. In `mpegts` packets are counted:
   * none may be missing, and players of it know such pictures.
   */
  readonly isLeading?: boolean | undefined
  /** `hls`: the next chunk begins with a key frame, so a segment may end here. */
  readonly endsGroup?: boolean
  /** Made of what the hub had kept when the subscription began: shared by all who joined then, and not new. */
  readonly isBacklog?: boolean
  /** On `init`, and on every key frame of `keyframes`. */
  readonly format?: StreamFormat
}
