// Marks of why nothing is recorded, and since when. Where the clock was set back they are ordered by pass first, like
// footage.

import { compareRecorded } from './clock-epoch.ts'
import type { LastSegment } from './segment-views.ts'

/** From `atMs` on nothing is recorded, for this reason, as long as there is no footage; undefined: it is again. */
export type GapMark = {
  readonly atMs: number
  readonly reason: string | undefined
  /** See clock-epoch.ts; undefined: the first. */
  readonly pass?: number | undefined
}

/**
 * A gap's end of footage and its mark are told by different clocks, and the fragment that was open may still have been
 * written.
 */
export const markLatenessMs = 5000

/** In the order of recording. */
export function compareMarks(a: GapMark, b: GapMark): number {
  return compareRecorded({ pass: a.pass, startMs: a.atMs }, { pass: b.pass, startMs: b.atMs })
}

/**
 * The pass of a mark that is made at `atMs`, when `last` is the footage recorded last: when that ends in the future,
 * the clock was set back, and the next footage will begin another pass.
 */
export function findMarkPass(last: LastSegment | undefined, atMs: number): number {
  if (!last) return 0
  return atMs < last.endMs - markLatenessMs ? last.pass + 1 : last.pass
}

/**
 * Of each pass the last mark at or before `startMs`, which still holds then, and all up to `endMs`. `marks` in the
 * order of recording.
 */
export function listMarks(marks: readonly GapMark[], startMs: number, endMs: number): GapMark[] {
  return marks.filter((mark, i) => {
    const next = marks[i + 1]
    const isReplaced = next !== undefined && (next.pass ?? 0) === (mark.pass ?? 0) && next.atMs <= startMs
    return mark.atMs <= endMs && !isReplaced
  })
}

/**
 * True when the last that is known is that nothing is recorded, and no footage says otherwise. `last`: the footage
 * recorded last.
 */
export function isGapOpen(last: Pick<LastSegment, 'pass' | 'endMs'>, marks: readonly GapMark[]): boolean {
  const mark = marks.at(-1)
  if (mark?.reason === undefined) return false
  const pass = mark.pass ?? 0
  return pass > last.pass || (pass === last.pass && mark.atMs > last.endMs - markLatenessMs)
}
