// Cameras, own and shared, and the options of their live view.

import { type Static, Type } from 'typebox'
import { problemCodes } from './camera-problem.ts'
import { pageQuery } from './page.ts'
import { recordingStatuses } from './recording-status.ts'
import { Email, nullable, ours, Timestamp } from './schema.ts'

export const CameraPath = Type.Object({ camera_id: Type.Integer() })

export const liveViewQuery = {
  refresh_rate: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      description: 'Maximum number of frames per second in the MJPEG stream; 0.1 means one every 10 seconds.',
    }),
  ),
  max_width: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2147483647,
      description:
        'Maximum width of the MJPEG stream and the live snapshot, in pixels. It is rounded down to one of a few sizes.',
    }),
  ),
  max_height: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2147483647,
      description:
        'Maximum height of the MJPEG stream and the live snapshot, in pixels. It is rounded down to one of a few sizes.',
    }),
  ),
}

export const CameraQuery = Type.Object(liveViewQuery)
export const CameraListQuery = Type.Object({ ...pageQuery, ...liveViewQuery })

export const CameraType = Type.Enum(['h264', 'h265', 'mjpeg'])

export const StreamEntry = Type.Object({
  format: Type.Enum(['mjpeg', 'mp4', 'mpegts', 'hls']),
  url: Type.String({ format: 'uri' }),
  refresh_rate: Type.Optional(Type.Number({ description: 'Present for `mjpeg` if the request set it.' })),
})

const common = {
  id: Type.Integer(),
  name: Type.String(),
  type: CameraType,
  snapshot: nullable(
    Type.Object(
      { url: Type.String({ format: 'uri' }), created_at: Timestamp },
      {
        description:
          'The kept image: taken after the camera first connects, then about every eight minutes while it is online. It stays while the camera is offline. Null until the camera has been connected for the first time.',
      },
    ),
  ),
  status: Type.Enum(['online', 'offline', 'unknown']),
}

const views = {
  live_snapshot: Type.String({
    format: 'uri',
    description: 'URL of a live JPEG. It contains a query string; extra parameters are ignored.',
  }),
  streams: Type.Array(StreamEntry, {
    description: 'For h264 and h265: mjpeg, mp4, mpegts, hls, in this order. For mjpeg: mjpeg.',
  }),
  applications: Type.Array(Type.Object({ code: Type.String() }), {
    description: 'Contains `CRA` when recording is enabled.',
  }),
  has_recording: Type.Boolean({
    description: 'Whether the camera is recorded. For a shared camera: and the caller is allowed to view recordings.',
  }),
  low_latency_enabled: Type.Boolean({
    description:
      'False only for mjpeg. Otherwise, `hls` has parts for low-latency players, unless key frames are more than 6 seconds apart.',
  }),
  audio_enabled: Type.Boolean({ description: 'Whether the camera sends audio.' }),
}

const recordingStatus = nullable(
  Type.Enum([...recordingStatuses], {
    ...ours,
    description:
      'Extension. Status of the recording, so that a list of cameras shows which are being recorded; null where `has_recording` is false.',
  }),
)

export const Camera = Type.Object({
  ...common,
  event_api_hash: Type.String({ description: 'Credential for creating events of this camera.' }),
  ...views,
  status_reason: nullable(
    Type.String({
      ...ours,
      description: 'Extension. Explains why the camera is offline; null while it is online.',
    }),
  ),
  status_code: nullable(
    Type.Enum([...problemCodes], {
      ...ours,
      description:
        'Extension. Code of the reason for programs, the same as in connection tests; null while the camera is online.',
    }),
  ),
  recording_status: recordingStatus,
  keeps_damaged_pictures: Type.Boolean({
    ...ours,
    description:
      'Extension. Whether frames damaged by packet loss are shown and recorded instead of being dropped up to the next key frame.',
  }),
})

export type Camera = Static<typeof Camera>

export const SharedCamera = Type.Object({
  ...common,
  ...views,
  owner: Type.Object({ email: Email, first_name: Type.String(), last_name: Type.String() }),
  has_notifications: Type.Boolean(),
  recording_status: recordingStatus,
})

export type SharedCamera = Static<typeof SharedCamera>

const writable = {
  name: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Must not contain control characters or characters that change the text direction.',
  }),
  url: Type.String({
    minLength: 1,
    maxLength: 2000,
    description:
      'URL of the stream: rtsp://, rtsps://, or http:// or https:// for MJPEG, a container or a single JPEG. May contain a username and password.',
  }),
  type: Type.Optional(
    Type.Enum(['h264', 'h265', 'mjpeg'], {
      description:
        'Default: the type that the camera sends, or, if the camera does not respond immediately, h264, and mjpeg for http:// and https://. It is corrected when the camera is connected.',
    }),
  ),
  username: Type.Optional(
    nullable(Type.String({ maxLength: 200, description: 'Takes precedence over credentials in `url`.' })),
  ),
  password: Type.Optional(nullable(Type.String({ maxLength: 200 }))),
}

export const CameraSource = Type.Object({
  url: Type.String({
    description:
      'Without credentials. Anything that looks like a password in the path or query is replaced with `***`.',
  }),
  username: nullable(Type.String()),
  has_password: Type.Boolean({ description: 'Whether a password is stored. It is never returned.' }),
})

export type CameraSource = Static<typeof CameraSource>

export const NewCamera = Type.Object(writable)

export type NewCamera = Static<typeof NewCamera>

export const CameraChange = Type.Object({
  ...writable,
  name: Type.Optional(writable.name),
  url: Type.Optional(writable.url),
  keeps_damaged_pictures: Type.Optional(
    Type.Boolean({ description: 'Whether frames damaged by packet loss are kept. Default for new cameras: false.' }),
  ),
})

export type CameraChange = Static<typeof CameraChange>
