// The items that flow through a hub: frames, and the few events between them.

import type { GapReason } from '../../contract/gap-reasons.ts'
import type { Frame, StreamFormat } from '../media/frame.ts'

/**
 * A new run begins: one time axis, one format. This is the first item, and it is sent again after every reconnect,
 * change of format or jump of the camera's clock. The next video frame is a key frame. Frames of two runs share no
 * axis.
 */
export type RunStart = {
  readonly kind: 'start'
  /** Unique among all runs of this camera, forever. */
  readonly runId: string
  readonly format: StreamFormat
  /**
   * Set if the run begins because the server's clock was set: the difference in milliseconds between `wallMs` of its
   * frames and of those before.
   */
  readonly clockSetMs?: number
}

/** The run has ended; no frame is sent until the next `start`. */
export type RunEnd = {
  readonly kind: 'end'
  readonly reason: GapReason
}

export type HubItem = Frame | RunStart | RunEnd
