// Frames of one run to the media chunks of one live format. A muxer lives as long as the run; it knows nothing of viewers.

import type { Frame } from '../media/frame.ts'
import type { LiveChunk } from './live-chunk.ts'

export type LiveMuxer = {
  /** Data of the run's `init` chunk. */
  readonly init: Uint8Array
  /** Takes one frame, in the hub's order and beginning with a key frame; gives at most one chunk. Throws AppError for a bad frame. */
  push(frame: Frame): LiveChunk | undefined
  /** The run is over or continues elsewhere: what is left, and the next frame is a key frame. */
  flush(): readonly LiveChunk[]
}
