// Collects the measurements of all parts as the server's metrics.

import type { Measurement } from './api/metrics.ts'
import type { Catalog } from './archive/catalog.ts'
import type { Retention } from './archive/retention.ts'
import type { Uploads } from './archive/uploads.ts'
import type { PasswordQueue } from './auth/guard/password-queue.ts'
import type { CameraRegistry } from './cameras/camera-registry.ts'
import type { EventWriter } from './cameras/event-writer.ts'
import type { WorkerStats } from './cameras/worker-protocol.ts'
import type { Decoder } from './decoder/decoder.ts'
import type { LiveStreams } from './live/live-streams.ts'

export type Measured = {
  readonly workers: readonly WorkerStats[]
  readonly cameras: CameraRegistry
  readonly decoder: Decoder
  readonly live: LiveStreams
  readonly catalog: Catalog
  readonly retention: Retention
  readonly uploads: Uploads
  readonly passwords: PasswordQueue
  readonly events: EventWriter
}

const counter = (name: string, help: string, value: number): Measurement => ({ name, help, kind: 'counter', value })
const gauge = (name: string, help: string, value: number): Measurement => ({ name, help, kind: 'gauge', value })

export function measure({
  workers,
  cameras,
  decoder,
  live,
  catalog,
  retention,
  uploads,
  passwords,
  events,
}: Measured): Measurement[] {
  const sum = (name: keyof WorkerStats) => workers.reduce((total, stats) => total + stats[name], 0)
  const { viewers, subscriptions, droppedChunks } = live.stats()
  const { decodes, crashes, refused } = decoder.stats()
  const { freezes, frozenMs, losing } = cameras.figureStats()
  const { pending, failed } = catalog.repair.progress()
  return [
    gauge('cameras', 'Cameras that run in a media worker.', sum('cameras')),
    ...cameras.stats().map(({ status, reason, cameras: count }) => ({
      ...gauge('cameras_by_status', 'Cameras by status, and why they are offline.', count),
      labels: { status, reason },
    })),
    counter('rtp_packets_total', 'RTP packets received.', sum('packets')),
    counter('rtp_packets_lost_total', 'RTP packets that never came.', sum('lostPackets')),
    counter('video_frames_total', 'Video frames received.', sum('videoFrames')),
    counter('received_bytes_total', 'Bytes received from cameras.', sum('receivedBytes')),
    counter('camera_connections_total', 'Connections to cameras that reached a frame.', sum('connections')),
    counter('recorded_bytes_total', 'Bytes written to recordings.', sum('recordedBytes')),
    gauge(
      'recorder_pending_bytes',
      'Bytes of frames that recorders hold before they are written.',
      sum('pendingBytes'),
    ),
    counter('dropped_frames_total', 'Video frames not recorded or damaged by loss.', sum('droppedFrames')),
    counter('camera_freezes_total', 'Times at which a connected camera sent no video for more than a second.', freezes),
    counter('camera_frozen_seconds_total', 'Total length of these freezes.', frozenMs / 1000),
    gauge('cameras_losing', 'Cameras that lost many packets or frames in the last minute.', losing),
    counter('audio_blocks_total', 'Blocks of AAC made of telephone audio.', sum('audioBlocks')),
    counter('audio_dropped_total', 'Chunks of telephone audio that were not encoded.', sum('droppedAudio')),
    counter('audio_crashes_total', 'Times a process that encodes audio died.', sum('audioCrashes')),
    gauge(
      'worker_loop_delay_seconds',
      'Longest block of a media worker in the last seconds.',
      Math.max(0, ...workers.map(({ loopDelayMs }) => loopDelayMs)) / 1000,
    ),
    gauge('open_segments', 'Recording files being written or closed.', catalog.stats().openSegments),
    gauge(
      'recordings_to_repair',
      'Files left open that wait for their repair, or could not be repaired.',
      pending + failed,
    ),
    ...measureRetention(retention),
    counter('uploads_total', 'Recordings moved to buckets.', uploads.stats().files),
    counter('uploaded_bytes_total', 'Their bytes.', uploads.stats().bytes),
    gauge('uploads_failing', 'Buckets that recordings cannot be moved to at the moment.', uploads.stats().failing),
    ...Object.entries(viewers).map(([format, count]) =>
      gauge(`viewers_${format}`, `Live viewers of ${format}.`, count),
    ),
    gauge('live_subscriptions', 'Live streams that cross from media workers.', subscriptions),
    counter('live_chunks_dropped_total', 'Chunks of live streams dropped for slow viewers.', droppedChunks),
    gauge('passwords_waiting', 'Passwords that wait to be checked.', passwords.stats().waiting),
    counter('passwords_refused_total', 'Passwords not checked because too many waited.', passwords.stats().refused),
    gauge('events_waiting', 'Events of the server itself that the store has not taken yet.', events.stats().waiting),
    counter('events_dropped_total', 'Events of the server itself that were too many.', events.stats().dropped),
    counter('decodes_total', 'Key frames decoded.', decodes),
    counter('decoder_crashes_total', 'Times the decoder process died.', crashes),
    counter('decoder_refused_total', 'Images refused because the decoder was busy.', refused),
  ]
}

function measureRetention(retention: Retention): Measurement[] {
  const { segments, bytes, steps, stepP95Ms, disks } = retention.stats()
  const sum = (key: 'freeBytes' | 'totalBytes') => [...disks.values()].reduce((total, disk) => total + disk[key], 0)
  return [
    counter('retention_segments_total', 'Recordings deleted because their time or space was over.', segments),
    counter('retention_bytes_total', 'Their bytes.', bytes),
    counter('retention_steps_total', 'Steps they were deleted in.', steps),
    gauge(
      'retention_step_p95_seconds',
      'How long 95 % of the latest steps held up the thread that answers, at most.',
      stepP95Ms / 1000,
    ),
    ...(disks.size > 0
      ? [
          gauge('archive_disk_free_bytes', 'Free space of the disks of the recordings.', sum('freeBytes')),
          gauge('archive_disk_bytes', 'Size of the disks of the recordings.', sum('totalBytes')),
        ]
      : []),
  ]
}
