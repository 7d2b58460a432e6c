// Parts of a segment, as those who need no more ask the index for.

import type { Segment } from './segment.ts'

/** What is known when a file is created: it holds the initialization section, no fragment yet. */
export type OpenSegment = Omit<Segment, 'id' | 'fragments' | 'isClosed' | 'endMs' | 'bytes' | 'checksum'>

/** What is known when no fragment will come. */
export type ClosedValues = Pick<Segment, 'endMs' | 'bytes' | 'fragments' | 'checksum'>

/** For timelines. */
export type SegmentSpan = Pick<Segment, 'startMs' | 'endMs' | 'runId' | 'gapReason'>

/** For comparing with its file. */
export type SegmentFile = Pick<Segment, 'id' | 'path' | 'startMs' | 'bytes' | 'isClosed'>

/** For retention; closed. */
export type OldSegment = Pick<Segment, 'id' | 'startMs' | 'endMs' | 'bytes'>

export type OldestQuery = {
  readonly limit: number
  /** Only what comes after this one in the order of start and id. */
  readonly after?: Pick<Segment, 'id' | 'startMs'> | undefined
}

/** A file that is about to be deleted. */
export type Garbage = Pick<Segment, 'id' | 'path'>

/** Sums over the closed segments of a camera. */
export type FootageUsage = { readonly cameraId: number; readonly bytes: number; readonly segments: number }
