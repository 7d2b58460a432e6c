// Marks that say why nothing is recorded, and since when. If the clock was set back, they are ordered by epoch first,
// like footage.

import { compareRecorded } from './clock-epoch.ts'
import type { LastSegment } from './segment-views.ts'

/** From `atMs` on nothing is recorded, for this reason, until there is footage; undefined: recording has resumed. */
export type GapMark = {
  readonly atMs: number
  readonly reason: string | undefined
  /** See clock-epoch.ts; undefined for the first epoch. */
  readonly epoch?: number | undefined
}

/**
 * The end of footage and the mark come from different clocks, and the open fragment may still have been
 * written.
 */
export const markLatenessMs = 5000

/**
 * Reason of the last mark of an epoch if nothing was recorded when the clock was set back. `atMs` is by the old time;
 * the next epoch begins with a mark by the new time.
 */
export const clockSet = 'clock_set'

/** Compares by the order of recording. */
export function compareMarks(a: GapMark, b: GapMark): number {
  return compareRecorded({ epoch: a.epoch, startMs: a.atMs }, { epoch: b.epoch, startMs: b.atMs })
}

/**
 * The epoch of a mark made at `atMs`. `last` is the footage recorded last: if it ends in the future, the clock was set
 * back, and the next footage will begin a new epoch. If all footage of the latest epoch was lost, the next footage
 * belongs to that epoch.
 */
export function findMarkEpoch(last: LastSegment | undefined, latestEpoch: number, atMs: number): number {
  const isBehind = last?.epoch === latestEpoch && atMs < last.endMs - markLatenessMs
  return isBehind ? latestEpoch + 1 : latestEpoch
}

/**
 * For each epoch, the last mark at or before `startMs`, which is still valid then, and all marks up to `endMs`. `marks`
 * must be in the order of recording.
 */
export function listMarks(marks: readonly GapMark[], startMs: number, endMs: number): GapMark[] {
  return marks.filter((mark, i) => {
    const next = marks[i + 1]
    const isReplaced = next !== undefined && (next.epoch ?? 0) === (mark.epoch ?? 0) && next.atMs <= startMs
    return mark.atMs <= endMs && !isReplaced
  })
}

/**
 * True if nothing is recorded as far as is known, and no footage contradicts. `last`: the footage
 * recorded last.
 */
export function isGapOpen(last: Pick<LastSegment, 'epoch' | 'endMs'>, marks: readonly GapMark[]): boolean {
  const mark = marks.at(-1)
  if (mark?.reason === undefined) return false
  const epoch = mark.epoch ?? 0
  return epoch > last.epoch || (epoch === last.epoch && mark.atMs > last.endMs - markLatenessMs)
}
