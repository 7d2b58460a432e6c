// What flows through a hub: frames, and the few things that can happen between them.

import type { GapReason } from '../../contract/gap-reasons.ts'
import type { Frame, StreamFormat } from '../media/frame.ts'

/**
 * A new run begins: one time axis, one format. Comes first, and again after every reconnect, change of format or jump of
 * the camera's clock. The next video frame is a key frame. Frames of two runs share no axis.
 */
export type RunStart = {
  readonly kind: 'start'
  /** Unique among all runs of this camera, ever. */
  readonly runId: string
  readonly format: StreamFormat
  /** Set when it begins because the server's clock was set: by so many milliseconds, which `wallMs` of its frames are off from those before. */
  readonly clockSetMs?: number
}

/** The run is over and no frame will come until the next `start`. */
export type RunEnd = {
  readonly kind: 'end'
  readonly reason: GapReason
}

export type HubItem = Frame | RunStart | RunEnd
