// Converts the frames of one run to media chunks of one live format. A muxer exists for one run and is independent of
// viewers.

import type { Frame } from '../media/frame.ts'
import type { LiveChunk } from './live-chunk.ts'

export type LiveMuxer = {
  /** The data of the run's `init` chunk. */
  readonly init: Uint8Array
  /**
   * Adds a frame, in the hub's order and beginning with a key frame. Returns the chunks that are complete.
   * Throws AppError for a bad frame.
   */
  push(frame: Frame): readonly LiveChunk[]
  /** Returns the remaining chunks at the end of a run. The next frame must be a key frame. */
  flush(): readonly LiveChunk[]
}
