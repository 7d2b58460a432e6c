// Parts of a segment, as those who need no more ask the index for.

import type { FootageHole } from './footage-hole.ts'
import type { Segment } from './segment.ts'

/** What is known when a file is created: it holds the initialization section, no fragment yet. */
export type OpenSegment = Omit<Segment, 'id' | 'fragments' | 'isClosed' | 'endMs' | 'bytes' | 'checksum'>

/** What is known when no fragment will come. */
/** `path`: of the file that is meant, if the row may be that of another one by now. */
export type ClosedValues = Pick<Segment, 'endMs' | 'bytes' | 'fragments' | 'checksum'> & { readonly path?: string }

/**
 * The beginning of a file that the disk has confirmed. `bytes`: up to the end of a fragment, 0 when nothing was
 * confirmed; `checksum`: of its fragments.
 */
export type ConfirmedPart = { readonly bytes: number; readonly checksum: number }

/** For timelines. */
export type SegmentSpan = Pick<Segment, 'id' | 'startMs' | 'endMs' | 'runId' | 'gapReason' | 'epoch'> & {
  /** Inside the segment, in order; see `listHoles`. */
  readonly holes?: readonly FootageHole[] | undefined
}

/** For comparing with its file. */
export type SegmentFile = Pick<Segment, 'id' | 'placeId' | 'path' | 'startMs' | 'bytes' | 'isClosed'>

/** First and newest footage of a camera. */
export type FootageBounds = {
  /** By the wall clock, Unix milliseconds. */
  readonly startMs: number
  readonly endMs: number
  /**
   * In the order of recording, see clock-epoch.ts; undefined where the clock was never set back: then they are the
   * above, of epoch 0.
   */
  readonly oldest?: { readonly epoch: number; readonly startMs: number } | undefined
  readonly newest?: { readonly epoch: number; readonly endMs: number } | undefined
}

/** The segment recorded last. */
export type LastSegment = Pick<Segment, 'startMs' | 'endMs'> & { readonly epoch: number }

/** For retention; closed. */
export type OldSegment = Pick<Segment, 'id' | 'startMs' | 'endMs' | 'bytes' | 'epoch'>

export type OldestQuery = {
  readonly limit: number
  /** Only what comes after this one in the order of recording. */
  readonly after?: Pick<Segment, 'id' | 'startMs'> | undefined
  /** Only what is in this place. */
  readonly placeId?: number | undefined
  /** Only what ended by then. Unix milliseconds. */
  readonly endedByMs?: number | undefined
}

/** A file that is about to be deleted. */
export type PendingDeletion = SegmentLocation

/** A segment, and where its file is. */
export type SegmentLocation = Pick<Segment, 'id' | 'placeId' | 'path'>

/** Where a file is. */
export type FileLocation = Pick<Segment, 'placeId' | 'path'>

/** Who copies files between places: the server, or a command beside it. */
export type CopyOwner = 'server' | 'command'

/** Bytes of files that are being recorded, of a camera in one place. */
export type OpenFootage = Omit<FootageUsage, 'segments'>

/** Sums over the closed segments of a camera in one place. */
export type FootageUsage = {
  readonly cameraId: number
  readonly placeId: number
  readonly bytes: number
  readonly segments: number
}
