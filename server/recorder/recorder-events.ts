// What a recorder reports to the index.

import type { RecordingStatus } from '../../contract/recording-status.ts'
import type { Fragment } from '../model/segment.ts'
import type { ConfirmedPart, OpenSegment } from '../model/segment-views.ts'

/** What the index must know. The values are plain data for the main thread. The order per camera is always the same. */
export type RecorderEvents = {
  /** The file exists and contains its initialization section. */
  segmentOpened(segment: OpenSegment): void
  /** The fragment is in the file. It is on the disk after the next sync. */
  fragmentWritten(cameraId: number, path: string, fragment: Fragment): void
  /**
   * The file is on the disk and will not change. It is useless if it contains no fragment. `indexBytes`: the length of the
   * index behind the last one.
   */
  segmentClosed(cameraId: number, path: string, checksum: number, indexBytes: number): void
  /** The file will not change, and the disk has confirmed only its beginning. Reported fragments after it are lost. */
  segmentBroken(cameraId: number, path: string, confirmed: ConfirmedPart): void
  /** `detail`: a sentence for the owner of the camera, set with 'ERROR'. */
  statusChanged(cameraId: number, status: RecordingStatus, detail?: string): void
  /** Nothing is recorded from now on, for this reason. Undefined: recording continues. */
  gapChanged(cameraId: number, reason: string | undefined): void
}
