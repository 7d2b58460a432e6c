// A file of which the catalog was told and whose row is not closed yet, as it is kept in memory.

import { compareRecorded } from '../model/clock-epoch.ts'
import type { Fragment, Segment } from '../model/segment.ts'
import type { LastSegment, OpenSegment } from '../model/segment-views.ts'

export type Entry = {
  opened: OpenSegment
  /** Undefined until the row is written; until then the segment is not listed. */
  id: number | undefined
  /** What was recorded before it; known with its row. */
  before: LastSegment | undefined
  readonly fragments: Fragment[]
  /** True once no fragment will come. */
  isClosed: boolean
}

/** As it is now. */
export function toSegment(entry: Entry, id: number): Segment {
  const { opened, fragments } = entry
  const last = fragments.at(-1)
  return {
    ...opened,
    id,
    // A copy: what a reader was given does not change under it.
    fragments: fragments.slice(),
    endMs: last ? last.startMs + last.durationMs : opened.startMs,
    bytes: bytesOf(entry),
    isClosed: entry.isClosed,
  }
}

/** Length of the file as far as it was told. */
export function bytesOf({ opened, fragments }: Entry): number {
  const last = fragments.at(-1)
  return last ? last.offset + last.bytes : opened.initBytes
}

/** In the order of recording; of a segment that is in both, the closed one. */
export function mergeById(closed: readonly Segment[], open: readonly Segment[]): Segment[] {
  const ids = new Set(closed.map(({ id }) => id))
  return [...closed, ...open.filter(({ id }) => !ids.has(id))].sort(compareRecorded)
}

export function lastOf(entry: Entry): LastSegment {
  const { startMs, endMs, pass = 0 } = toSegment(entry, 0)
  return { startMs, endMs, pass }
}
