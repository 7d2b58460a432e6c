// How the decode times of a file, which begin at 0, are shifted to another time axis: that of a recorded stream or of a
// download. Files of one run that follow each other directly share a shift, so that audio continues without a seam.

import { scaleTicks } from '../media/mp4/timescale.ts'
import type { Segment } from '../model/segment.ts'

export type TimeShift = {
  /** Position of this file, and of the first file of the run on the target axis, on the time axis of the run. */
  readonly runStart90k: number
  readonly runBase90k: number
  /** Where the first file of the run begins on the target axis. */
  readonly shift90k: number
}

/** For a file that does not continue the one before. It begins at `shift90k` of the target axis. */
export function beginRun({ runStart90k }: Pick<Segment, 'runStart90k'>, shift90k: number): TimeShift {
  return { runStart90k, runBase90k: runStart90k, shift90k }
}

/**
 * The ticks to add to decode times of a track. Rounds like the recorder, so that audio continues across files without
 * an extra or missing sample.
 */
export function shiftTicks({ runStart90k, runBase90k, shift90k }: TimeShift, timescale: number): number {
  return scaleTicks(runStart90k, timescale) - scaleTicks(runBase90k, timescale) + scaleTicks(shift90k, timescale)
}

/**
 * Files of one run that are further apart do not continue each other, because footage is missing. When the reason for
 * missing footage is known, the distance may be smaller.
 */
const maxSeam90k = 9000

/** Whether the file continues the run where the previous one ends. */
export function isSeamless(previous: Segment, segment: Segment): boolean {
  return previous.runId === segment.runId && Math.abs(segment.runStart90k - endOnRun90k(previous)) <= maxSeam90k
}

/** Where a file ends on the time axis of its run. */
export function endOnRun90k({ runStart90k, fragments }: Segment): number {
  const last = fragments.at(-1)
  return last ? runStart90k + last.start90k + last.duration90k : runStart90k
}
