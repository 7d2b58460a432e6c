// Clock epochs: when the server's clock is set back, the same hours are recorded once more. Footage is ordered by
// epoch, and within an epoch by its wall clock, so that it plays in the order it was recorded in. Segments get
// increasing ids as they are recorded: an epoch is identified by its first id, and a camera whose clock was never set
// back has no rows of epochs.

import type { Segment } from './segment.ts'

/** Segments from this id on, up to the next start, belong to the epoch. Epochs count from 0. */
export type ClockEpochStart = { readonly fromId: number; readonly epoch: number }

/**
 * A segment that begins earlier than the end of the previous footage by more than this was recorded after the clock
 * was set back.
 */
const maxOverlapMs = 2000

/** `starts` in the order of ids. */
export function findEpoch(starts: readonly ClockEpochStart[], id: number): number {
  return starts.findLast(({ fromId }) => fromId <= id)?.epoch ?? 0
}

/** The latest epoch. */
export function lastEpoch(starts: readonly ClockEpochStart[]): number {
  return starts.reduce((last, { epoch }) => Math.max(last, epoch), 0)
}

/** Ids of an epoch: [fromId, toId); undefined if it is still open. */
export function listIdRanges(
  starts: readonly ClockEpochStart[],
  epoch: number,
): { readonly fromId: number; readonly toId: number | undefined }[] {
  const all = [{ fromId: 0, epoch: 0 }, ...starts]
  return all.flatMap((start, i) => (start.epoch === epoch ? [{ fromId: start.fromId, toId: all[i + 1]?.fromId }] : []))
}

/** True if a segment that begins at `startMs` belongs to another epoch than the previous footage. */
export function isNewEpoch(last: Pick<Segment, 'startMs' | 'endMs'>, startMs: number): boolean {
  return startMs < last.startMs || startMs < last.endMs - maxOverlapMs
}

type Ordered = { readonly epoch?: number | undefined; readonly startMs: number; readonly id?: number }

/** Compares by the order of recording. */
export function compareRecorded(a: Ordered, b: Ordered): number {
  return (a.epoch ?? 0) - (b.epoch ?? 0) || a.startMs - b.startMs || (a.id ?? 0) - (b.id ?? 0)
}
