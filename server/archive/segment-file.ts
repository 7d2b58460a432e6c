// What is known of a segment's file when it is created, and what a look into the file gives back after a crash.

import type { Segment } from '../model/segment.ts'

/** A segment that has just been created: its file holds the initialization section, no fragment yet. */
export type OpenSegment = Omit<Segment, 'id' | 'fragments' | 'isClosed' | 'endMs' | 'bytes'>
