// A camera as its owner sees it. The addresses it is watched at carry who may, how, and until when.

import type { Camera } from '../../../contract/camera.ts'
import type { LiveView } from '../../model/live-view.ts'
import { writeTime } from '../../model/time.ts'
import type { Camera as CameraRow } from '../../store/cameras.ts'
import type { Recording as RecordingRow } from '../../store/recordings.ts'
import type { CameraUrls } from '../media-urls.ts'

/** `recording`: also one that was turned off. */
export function writeCamera(
  camera: CameraRow,
  recording: RecordingRow | undefined,
  view: LiveView,
  urls: CameraUrls,
): Camera {
  const isRecorded = recording !== undefined && recording.deactivatedAtMs === null
  const mjpeg = {
    format: 'mjpeg',
    url: urls.mjpeg,
    ...(view.refreshRate && { refresh_rate: view.refreshRate }),
  } as const
  return {
    id: camera.id,
    name: camera.name,
    type: camera.type,
    snapshot: camera.snapshotAtMs === null ? null : { url: urls.snapshot, created_at: writeTime(camera.snapshotAtMs) },
    status: camera.status,
    event_api_hash: camera.eventApiHash,
    live_snapshot: urls.live_snapshot,
    // Clients choose by position: the order is part of the interface.
    streams:
      camera.type === 'mjpeg'
        ? [mjpeg]
        : [
            mjpeg,
            { format: 'mp4', url: urls.mp4 },
            { format: 'mpegts', url: urls.mpegts },
            { format: 'hls', url: urls.hls },
          ],
    applications: isRecorded ? [{ code: 'CRA' }] : [],
    has_recording: isRecorded,
    low_latency_enabled: camera.type !== 'mjpeg',
    audio_enabled: camera.hasAudio,
    status_reason: camera.status === 'offline' ? (camera.statusDetail ?? camera.statusReason) : null,
  }
}
