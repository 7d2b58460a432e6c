// The in-memory entry of a file that was reported to the catalog and whose row is not closed yet.

import type { CameraLease } from '../model/camera-lease.ts'
import { compareRecorded } from '../model/clock-epoch.ts'
import { endOfFootage, type Fragment, type Segment } from '../model/segment.ts'
import type { LastSegment, OpenSegment } from '../model/segment-views.ts'

export type Entry = {
  opened: OpenSegment
  /** As its recorder has told it. `opened` is compared with other footage, which may be that of another server. */
  readonly reported: OpenSegment
  /** Under which it was recorded; undefined if there is none. */
  readonly lease: CameraLease | undefined
  /** Undefined until the row is written. Until then the segment is not listed. */
  id: number | undefined
  /** The segment recorded before it. Known once its row is. */
  before: LastSegment | undefined
  readonly fragments: Fragment[]
  /** Of the index at the end of the file, which is there once it is closed. */
  indexBytes: number
  /** True once no more fragments will come. */
  isClosed: boolean
  /** True once its fragments have left memory; the file tells them. */
  isForgotten?: boolean
  /** Fragments that wait for the row. */
  waiting: number
  /** True once it waits for repair, which closes its row. */
  isAbandoned: boolean
  /** True once the recorder that wrote it has crashed. */
  isLastOfRecorder: boolean
}

/** A copy of the segment as it is now. */
export function toSegment(entry: Entry, id: number): Segment {
  const { opened, fragments } = entry
  const last = fragments.at(-1)
  return {
    ...opened,
    id,
    // A copy, so that what a reader has received does not change.
    fragments: fragments.slice(),
    endMs: last ? last.startMs + last.durationMs : opened.startMs,
    bytes: bytesOf(entry),
    isClosed: entry.isClosed,
  }
}

/** Length of the file as reported so far. */
export function bytesOf({ opened, fragments, indexBytes }: Entry): number {
  return endOfFootage({ initBytes: opened.initBytes, fragments }) + indexBytes
}

/** Merges in the order of recording. If both lists contain a segment, the closed one is taken. */
export function mergeById(closed: readonly Segment[], open: readonly Segment[]): Segment[] {
  const ids = new Set(closed.map(({ id }) => id))
  return [...closed, ...open.filter(({ id }) => !ids.has(id))].sort(compareRecorded)
}

export function lastOf(entry: Entry): LastSegment {
  const { startMs, endMs, epoch = 0 } = toSegment(entry, 0)
  return { startMs, endMs, epoch }
}
