// The rows the archive needs, whatever database keeps them (server/store/segments.ts).

import type { Fragment, Segment } from '../model/segment.ts'
import type { OpenSegment } from './segment-file.ts'

export type SegmentRows = {
  insertOpen(segment: OpenSegment): Promise<number>
  close(
    id: number,
    values: { readonly endMs: number; readonly bytes: number; readonly fragments: readonly Fragment[] },
  ): Promise<void>
  /** Of all cameras. `fragments` is empty, `endMs` and `bytes` are what the file began with. */
  listOpen(): Promise<Segment[]>
  /** Closed ones that overlap [startMs, endMs), ordered by start. */
  listBetween(cameraId: number, startMs: number, endMs: number): Promise<Segment[]>
  /** As `listBetween`, without the fragments. */
  listSpans(cameraId: number, startMs: number, endMs: number): Promise<SegmentSpan[]>
  find(id: number): Promise<Segment | undefined>
  /** First and newest closed footage. */
  findBounds(cameraId: number): Promise<{ startMs: number; endMs: number } | undefined>
  /** Closed ones that end at or before `beforeMs`, oldest first. */
  listOldest(cameraId: number, beforeMs: number, limit: number): Promise<Segment[]>
  /** Cameras that have segments, whether the camera still exists or not. */
  listCameraIds(): Promise<number[]>
  /** Bytes of all closed segments of the camera. */
  sumBytes(cameraId: number): Promise<number>
  /** Of all cameras, open and closed, in the order of their ids. */
  listAfter(id: number, limit: number): Promise<Segment[]>
  /** From now on these are in none of the lists above; their files are about to go. */
  markGarbage(ids: readonly number[]): Promise<void>
  listGarbage(limit: number): Promise<{ id: number; path: string }[]>
  remove(ids: readonly number[]): Promise<void>
}

export type SegmentSpan = {
  readonly startMs: number
  readonly endMs: number
  readonly runId: string
  readonly gapReason: string | undefined
}
