// The rows that the archive needs, in any database (server/store/footage/segments.ts).

import type { GapReason } from '../../contract/gap-reasons.ts'
import type { CameraLease } from '../model/camera-lease.ts'
import type { Segment } from '../model/segment.ts'
import type {
  ClosedValues,
  CopyOwner,
  FileLocation,
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
  /** `epoch`: where the segment is not of the last epoch. Throws `LostLease` if the camera is not held under it. */
  insertOpen(segment: OpenSegment, epoch?: number, lease?: CameraLease): Promise<number>
  /** Closing again replaces the previous values. Returns false if there is no such row. Throws `LostLease`. */
  close(id: number, values: ClosedValues, lease?: CameraLease): Promise<boolean>
  /** Why nothing was recorded before a segment, if it was one of `before` until now. */
  correctGapReason(id: number, before: readonly GapReason[], reason: GapReason): Promise<void>
  /**
   * Open segments of all cameras. `fragments` is empty, and `endMs` and `bytes` are those at the creation of the file.
   */
  listOpen(): Promise<Segment[]>
  /** Closed segments that overlap [startMs, endMs), in the order of recording. */
  listBetween(cameraId: number, startMs: number, endMs: number): Promise<Segment[]>
  /** Like `listBetween`, without the fragments. */
  listSpans(cameraId: number, startMs: number, endMs: number): Promise<SegmentSpan[]>
  /** Whether any segment of `listBetween` has an audio track. */
  hasAudio(cameraId: number, startMs: number, endMs: number): Promise<boolean>
  find(id: number): Promise<Segment | undefined>
  /** First and last time of closed footage. */
  findBounds(cameraId: number): Promise<FootageBounds | undefined>
  /** The segment, open or closed, that was recorded last. */
  findLast(cameraId: number): Promise<LastSegment | undefined>
  /** The last epoch that has begun, whether its footage still exists or not: new segments are of it. 0 where the clock was never set back. */
  findLastEpoch(cameraId: number): Promise<number>
  /** All footage of the camera is gone: its epochs go too. */
  removeClockEpochs(cameraId: number): Promise<void>
  /** The first segment, open or closed, that starts at or after `startMs`. */
  findNext(cameraId: number, startMs: number): Promise<SegmentFile | undefined>
  /** The one, open or closed, that starts last in the last epoch. */
  findNewest(cameraId: number): Promise<SegmentFile | undefined>
  /** Which lease of the camera was given last, and when; undefined if there has been none. */
  findLease(cameraId: number): Promise<{ readonly epoch: number; readonly takenMs: number } | undefined>
  /** All, open and closed, that start in [startMs, endMs), in no order. */
  listFiles(cameraId: number, startMs: number, endMs: number): Promise<SegmentFile[]>
  /** Closed segments, oldest first. */
  listOldest(cameraId: number, query: OldestQuery): Promise<OldSegment[]>
  /** Cameras that have segments, whether or not the camera still exists. */
  listCameraIds(): Promise<number[]>
  /** Counters of each camera and place with closed segments. */
  listUsage(): Promise<FootageUsage[]>
  /** Bytes of the closed segments that overlap [startMs, endMs), from the rows. `placeIds`: only those there. */
  sumBytes(cameraId: number, startMs: number, endMs: number, placeIds?: readonly number[]): Promise<number>
  /** The counters of a camera, computed from the rows. */
  sumUsage(cameraId: number): Promise<FootageUsage[]>
  /** Corrects the counters of a camera. */
  recount(cameraId: number): Promise<void>
  /** Resolves when all earlier writes are on the disk. */
  sync(): Promise<void>
  /**
   * From now on, none of the lists above contains these segments. The files of the returned ones may be deleted after
   * `sync`.
   */
  markPendingDeletions(ids: readonly number[]): Promise<PendingDeletion[]>
  /**
   * The file is in another place now, and the one at `from` is a pending deletion. False if there is no row for this
   * file any more.
   */
  move(id: number, from: FileLocation & Pick<Segment, 'bytes'>, to: FileLocation): Promise<boolean>
  /** Call before a copy is made, so that it is found if it is not finished: by `move` or `endCopy`. */
  beginCopy(copy: FileLocation, owner: CopyOwner, node?: string): Promise<void>
  /** The file does not exist, or not any more. */
  endCopy(copy: FileLocation): Promise<void>
  /** Of one owner, or of all; with `node`, only of that server. */
  listCopies(owner?: CopyOwner, node?: string): Promise<FileLocation[]>
  /** Of one place, or of all. */
  listPendingDeletions(limit: number, placeId?: number): Promise<PendingDeletion[]>
  remove(ids: readonly number[]): Promise<void>
}
