// Passes: when the server's clock is set back, the same hours are recorded once more. Footage is ordered by pass, and
// within a pass by its wall clock, so that it plays in the order it was recorded in. Segments get growing ids as they
// are recorded: a pass is known by the id it begins with, and a camera whose clock was never set back has no rows of
// passes at all.

import type { Segment } from './segment.ts'

/** Segments of this id and those after it, up to the next of these, are of the pass. Passes count from 0. */
export type ClockEpochStart = { readonly fromId: number; readonly pass: number }

/**
 * A segment that begins earlier than the end of the footage before it, by more than this, was recorded after the clock
 * was set back.
 */
const maxOverlapMs = 2000

/** `starts` in the order of ids. */
export function findPass(starts: readonly ClockEpochStart[], id: number): number {
  return starts.findLast(({ fromId }) => fromId <= id)?.pass ?? 0
}

/** The last pass that has begun. */
export function lastPass(starts: readonly ClockEpochStart[]): number {
  return starts.reduce((last, { pass }) => Math.max(last, pass), 0)
}

/** Ids of a pass: [fromId, toId), undefined without end. */
export function listIdRanges(
  starts: readonly ClockEpochStart[],
  pass: number,
): { readonly fromId: number; readonly toId: number | undefined }[] {
  const all = [{ fromId: 0, pass: 0 }, ...starts]
  return all.flatMap((start, i) => (start.pass === pass ? [{ fromId: start.fromId, toId: all[i + 1]?.fromId }] : []))
}

/** Whether a segment that begins at `startMs` belongs to another pass than the footage recorded before it. */
export function isNewPass(last: Pick<Segment, 'startMs' | 'endMs'>, startMs: number): boolean {
  return startMs < last.startMs || startMs < last.endMs - maxOverlapMs
}

type Ordered = { readonly pass?: number | undefined; readonly startMs: number; readonly id?: number }

/** The order of recording. */
export function compareRecorded(a: Ordered, b: Ordered): number {
  return (a.pass ?? 0) - (b.pass ?? 0) || a.startMs - b.startMs || (a.id ?? 0) - (b.id ?? 0)
}
