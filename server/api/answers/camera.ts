// A camera for its owner and its guests. The media URLs encode who may watch, how, and until when.

import type { Camera, SharedCamera } from '../../../contract/camera.ts'
import { problemCodes } from '../../../contract/camera-problem.ts'
import type { LiveView } from '../../model/live-view.ts'
import { writeTime } from '../../model/time.ts'
import type { Camera as CameraRow } from '../../store/cameras/cameras.ts'
import type { Recording as RecordingRow } from '../../store/cameras/recordings.ts'
import type { SharedCamera as SharedRow } from '../../store/cameras/shares.ts'
import type { CameraUrls } from '../media-urls.ts'

/** `recording`: also one that is turned off. */
export function writeCamera(
  camera: CameraRow,
  recording: RecordingRow | undefined,
  view: LiveView,
  urls: CameraUrls,
): Camera {
  const { id, name, type, snapshot, status, ...rest } = writeCommon(camera, recording, view, urls)
  return {
    id,
    name,
    type,
    snapshot,
    status,
    event_api_hash: camera.eventApiHash,
    ...rest,
    status_reason: camera.status === 'offline' ? (camera.statusDetail ?? camera.statusReason) : null,
    status_code: camera.status === 'offline' ? findStatusCode(camera) : null,
    recording_status: rest.has_recording ? recording!.status : null,
    keeps_damaged_pictures: camera.keepsDamaged,
  }
}

/** Also null for codes written by another version of the server. */
function findStatusCode({ statusCode }: CameraRow): Camera['status_code'] {
  return problemCodes.find((code) => code === statusCode) ?? null
}

/** `applications` says whether the camera is recorded, `has_recording` whether this guest may see that. */
export function writeSharedCamera(
  { camera, owner, share }: SharedRow,
  recording: RecordingRow | undefined,
  view: LiveView,
  urls: CameraUrls,
): SharedCamera {
  const common = writeCommon(camera, recording, view, urls)
  const hasRecording = common.has_recording && share.canViewRecordings
  return {
    ...common,
    has_recording: hasRecording,
    owner: { email: owner.email, first_name: owner.firstName, last_name: owner.lastName },
    has_notifications: share.sharesNotifications,
    recording_status: hasRecording ? recording!.status : null,
  }
}

function writeCommon(
  camera: SharedRow['camera'],
  recording: RecordingRow | undefined,
  view: LiveView,
  urls: CameraUrls,
) {
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
    live_snapshot: urls.live_snapshot,
    // The order is part of the interface, because clients choose by position.
    streams:
      camera.type === 'mjpeg'
        ? [mjpeg]
        : [
            mjpeg,
            { format: 'mp4' as const, url: urls.mp4 },
            { format: 'mpegts' as const, url: urls.mpegts },
            { format: 'hls' as const, url: urls.hls },
          ],
    applications: isRecorded ? [{ code: 'CRA' }] : [],
    has_recording: isRecorded,
    low_latency_enabled: camera.type !== 'mjpeg',
    audio_enabled: camera.hasAudio,
  }
}
