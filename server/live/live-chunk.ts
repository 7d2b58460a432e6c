// The chunks that a live source produces for one camera and format. All viewers of that format share them. Plain data,
// because chunks are posted between threads.

import type { StreamFormat } from '../media/frame.ts'

/**
 * `mp4` and `mpegts` have one chunk per frame, for the lowest delay. `hls` has one fragment per group of pictures; a
 * long group is split. `keyframes` has the key frames as the camera sent them, for the decoder.
 */
export type LiveFormat = 'mp4' | 'mpegts' | 'hls' | 'keyframes'

/** HLS: consecutive groups of pictures share a segment until it is at least this long. */
export const minSegmentMs = 1500

export type LiveChunk = {
  /**
   * `init`: a run begins. All chunks of a run have the same format and time axis. `media`: video or audio. `gap`:
   * chunks were dropped here; the next chunk is a key chunk. `end`: the run is over. An `init` may follow when the
   * camera returns.
   */
  readonly kind: 'init' | 'media' | 'gap' | 'end'
  /** The chunk begins with a key frame, so a viewer may start here. */
  readonly isKey: boolean
  /** Wall-clock time of the first frame in Unix milliseconds, or 0 if the chunk has no frame. */
  readonly wallMs: number
  /** Exact for `hls`. An estimate for `mp4`. Otherwise 0. */
  readonly durationMs: number
  /**
   * Owned by the chunk, so that it can be transferred. In `init`: `ftyp` and `moov` for mp4 and hls, otherwise empty.
   */
  readonly data: Uint8Array
  /**
   * Set for `mp4` only: a viewer who starts at the preceding key chunk cannot decode this frame and does not receive
   * it. MPEG-TS packets carry a counter, so none may be left out there, and its players handle such frames themselves.
   */
  readonly isLeading?: boolean | undefined
  /** Set for the video of `mp4` only: presentation time minus decode time, 90 kHz. */
  readonly compositionOffset?: number
  /** Set for `hls` only: the next chunk begins with a key frame, so a segment may end here. */
  readonly endsGroup?: boolean
  /**
   * Set for `hls` only, once the source knows it: no chunk is longer, so each can be a part of low-latency HLS. Constant,
   * and longer only where the camera stood still.
   */
  readonly partTargetMs?: number
  /** Made from frames that the hub had already kept when the subscription began. */
  readonly isBacklog?: boolean
  /** Present on `init` and on every key frame of `keyframes`. */
  readonly format?: StreamFormat
}
