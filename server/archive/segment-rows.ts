// The rows the archive needs, whatever database keeps them (server/store/segments.ts).

import type { Segment } from '../model/segment.ts'
import type {
  ClosedValues,
  FootageBounds,
  FootageUsage,
  LastSegment,
  OldestQuery,
  OldSegment,
  OpenSegment,
  PendingDeletion,
  SegmentFile,
  SegmentSpan,
} from '../model/segment-views.ts'

export type SegmentRows = {
  /** `pass`: where the segment is not of the last pass. */
  insertOpen(segment: OpenSegment, pass?: number): Promise<number>
  /** Closing again replaces what was there. */
  close(id: number, values: ClosedValues): Promise<void>
  /** Of all cameras. `fragments` is empty, `endMs` and `bytes` are what the file began with. */
  listOpen(): Promise<Segment[]>
  /** Closed ones that overlap [startMs, endMs), in the order of recording. */
  listBetween(cameraId: number, startMs: number, endMs: number): Promise<Segment[]>
  /** As `listBetween`, without the fragments. */
  listSpans(cameraId: number, startMs: number, endMs: number): Promise<SegmentSpan[]>
  /** Whether one of `listBetween` has a track of audio. */
  hasAudio(cameraId: number, startMs: number, endMs: number): Promise<boolean>
  find(id: number): Promise<Segment | undefined>
  /** Of closed footage. */
  findBounds(cameraId: number): Promise<FootageBounds | undefined>
  /** The segment, open or closed, that was recorded last. */
  findLast(cameraId: number): Promise<LastSegment | undefined>
  /** The last pass that has begun, whether its footage still exists or not: new segments are of it. 0 where the clock was never set back. */
  findLastPass(cameraId: number): Promise<number>
  /** All footage of the camera is gone: its passes go too. */
  removeClockEpochs(cameraId: number): Promise<void>
  /** The first one, open or closed, that starts at or after `startMs`. */
  findNext(cameraId: number, startMs: number): Promise<SegmentFile | undefined>
  /** The one, open or closed, that starts last in the last pass. */
  findNewest(cameraId: number): Promise<SegmentFile | undefined>
  /** All, open and closed, that start in [startMs, endMs), in no order. */
  listFiles(cameraId: number, startMs: number, endMs: number): Promise<SegmentFile[]>
  /** Closed ones, oldest first. */
  listOldest(cameraId: number, query: OldestQuery): Promise<OldSegment[]>
  /** Cameras that have segments, whether the camera still exists or not. */
  listCameraIds(): Promise<number[]>
  /** Counters of each camera that has closed segments. */
  listUsage(): Promise<FootageUsage[]>
  /** Bytes of the closed segments that overlap [startMs, endMs), from the rows. */
  sumBytes(cameraId: number, startMs: number, endMs: number): Promise<number>
  /** The counters of a camera as the rows say. */
  sumUsage(cameraId: number): Promise<FootageUsage>
  /** Puts the counters of a camera right. */
  recount(cameraId: number): Promise<void>
  /** Resolves when all that was written before is on the disk. */
  sync(): Promise<void>
  /** From now on these are in none of the lists above; the files of those returned may go after `sync`. */
  markPendingDeletions(ids: readonly number[]): Promise<PendingDeletion[]>
  listPendingDeletions(limit: number): Promise<PendingDeletion[]>
  remove(ids: readonly number[]): Promise<void>
}
