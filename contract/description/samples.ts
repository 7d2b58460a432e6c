// Objects that appear in the examples of several operations: one household, one day.

import type { Static, TSchema } from 'typebox'
import type { Account, Application, PersonalToken } from '../account.ts'
import type { Camera, SharedCamera } from '../camera.ts'
import type { Event } from '../event.ts'
import type { Guest } from '../guest.ts'
import type { page } from '../page.ts'
import type { Download, RecordedImages, RecordedStream, Recording, Timeline } from '../recording.ts'
import type { User } from '../user.ts'

/** Stands for the origin of the server that is described. */
export const sampleOrigin = 'https://this-server.invalid'

export const sampleUser: User = {
  id: 7,
  email: 'ada@example.com',
  first_name: 'Ada',
  last_name: 'Lind',
  phone: null,
  root_site: 7,
  my_cameras_count: 2,
  shared_cameras_count: 1,
  total_cameras_count: 3,
  cameras_with_guests_count: 1,
  require_qualification: false,
  available_features: { live_view: true, connect_camera: true },
  is_owner: true,
  outage_mails: true,
}

const mediaUrl = (file: string) => `${sampleOrigin}/media/cameras/12/${file}?token=AgEBaF3k4AEMBwk`

const views = {
  live_snapshot: mediaUrl('live.jpg'),
  streams: [
    { format: 'mjpeg', url: mediaUrl('live.mjpeg') },
    { format: 'mp4', url: mediaUrl('live.mp4') },
    { format: 'mpegts', url: mediaUrl('live.ts') },
    { format: 'hls', url: mediaUrl('live.m3u8') },
  ] satisfies Camera['streams'],
  applications: [{ code: 'CRA' }],
  has_recording: true,
  low_latency_enabled: true,
  audio_enabled: true,
}

const common = {
  id: 12,
  name: 'Front door',
  type: 'h264',
  snapshot: { url: mediaUrl('snapshot.jpg'), created_at: '2026-05-01T11:55:02Z' },
  status: 'online',
} as const

export const sampleCamera: Camera = {
  ...common,
  event_api_hash: '4f1c0d7a9be24c6f8d3e5a7b9c1d2e3f',
  ...views,
  status_reason: null,
  status_code: null,
  recording_status: 'RECORDING',
  keeps_damaged_pictures: false,
}

export const sampleSharedCamera: Static<typeof SharedCamera> = {
  ...common,
  ...views,
  owner: { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lind' },
  has_notifications: false,
  recording_status: 'RECORDING',
}

export const sampleRecording: Recording = {
  id: 12,
  active_service_id: 3,
  status: 'RECORDING',
  retention: 'P7D',
  deactivated_at: null,
  recording_start: '2026-04-24T12:00:00Z',
  recording_end: '2026-05-01T12:00:00Z',
  status_reason: null,
  max_bytes: null,
  local_retention: null,
}

export const sampleTimeline: Timeline = {
  start: '2026-05-01T00:00:00Z',
  end: '2026-05-01T02:00:00Z',
  segments: [
    { start: '2026-05-01T00:00:00Z', end: '2026-05-01T00:14:31Z' },
    { start: '2026-05-01T00:16:02Z', end: '2026-05-01T02:00:00Z' },
  ],
  gaps: [{ start: '2026-05-01T00:14:31Z', end: '2026-05-01T00:16:02Z', reason: 'camera_unreachable' }],
}

export const sampleRecordedImages: RecordedImages = {
  url: `${sampleOrigin}/media/cameras/12/recorded.jpg?token=AgEHaF3k4AEMBwk`,
}

const streamBase = `${sampleOrigin}/recording/streams/9d2f6a0c4b8e4f0f9a1b2c3d4e5f6071/`

export const sampleDownload: Download = { url: `${streamBase}download.mp4` }

export const sampleStream: RecordedStream = {
  format: 'hls',
  url: `${streamBase}hls/playlist.m3u8`,
  stream_info: `${sampleOrigin}/v1/recording/stream/nightjar/9d2f6a0c4b8e4f0f9a1b2c3d4e5f6071/`,
  stream_controls: {
    base_url: streamBase,
    play: `${streamBase}play/`,
    pause: `${streamBase}pause/`,
    speed: `${streamBase}speed/`,
  },
}

export const sampleGuest: Static<typeof Guest> = {
  id: 5,
  email: 'grace@example.com',
  first_name: 'Grace',
  last_name: 'Berg',
  permissions: { can_view_rec: true, share_notifications: false },
}

export const sampleEvent: Static<typeof Event> = {
  id: 4711,
  camera: 12,
  site: null,
  title: 'Door bell',
  category: 'doorbell',
  source: 'api',
  occurred_at: '2026-05-01T12:00:00Z',
  received_at: '2026-05-01T12:00:01Z',
  data: { button: 'left' },
}

export const sampleToken: PersonalToken = {
  id: 3,
  name: 'Backup script',
  scope: 'read',
  prefix: 'njp_',
  last_four: '0001',
  created_at: '2026-04-30T09:12:44Z',
  last_used_at: null,
  expires_at: null,
}

export const sampleApplication: Application = {
  id: 2,
  client_id: 'vK3nq8TfWb1xYz0LrD5cGh7JmPs2QeUa',
  name: 'Porch Light',
  redirect_uris: ['https://porch.example/back'],
  require_secret: false,
  allow_password: true,
  confidential: true,
  scope: 'user_access',
  created_at: '2026-04-30T09:20:00Z',
}

export const sampleAccount: Account = {
  id: 7,
  email: 'ada@example.com',
  first_name: 'Ada',
  last_name: 'Lind',
  phone: null,
  is_owner: true,
  created_at: '2026-04-24T10:00:00Z',
  disabled_at: null,
  has_second_factor: false,
  may_add_cameras: true,
}

/** A list that fits on one page. */
export function pageOf<T>(
  ...results: T[]
): Omit<Static<ReturnType<typeof page<TSchema>>>, 'results'> & { results: T[] } {
  return { count: results.length, next: null, previous: null, results }
}
