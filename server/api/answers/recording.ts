// Recordings and their timelines.

import type { RecordedStream, Recording, StreamInfo, Timeline } from '../../../contract/recording.ts'
import { writeTime, writeTimeUp } from '../../model/time.ts'
import { maxTimelineMs, type TimeRange } from '../../model/time-range.ts'
import type { Timeline as Stretches } from '../../model/timeline.ts'
import type { StreamInfo as Position, StreamSession } from '../../playback/playback.ts'
import type { Recording as RecordingRow } from '../../store/cameras/recordings.ts'

/** Start and end of the footage, Unix milliseconds; undefined if there is none. */
type Footage = { readonly recordingStartMs: number; readonly recordingEndMs: number }

export function writeRecording(recording: RecordingRow, footage: Footage | undefined): Recording {
  return {
    id: recording.cameraId,
    active_service_id: recording.activeServiceId,
    status: recording.status,
    retention: recording.retention,
    deactivated_at: recording.deactivatedAtMs === null ? null : writeTime(recording.deactivatedAtMs),
    recording_start: footage ? writeTime(footage.recordingStartMs) : null,
    recording_end: footage ? writeTimeUp(footage.recordingEndMs) : null,
    status_reason: recording.status === 'ERROR' ? recording.statusDetail : null,
    max_bytes: recording.maxBytes,
    local_retention: recording.localRetention,
  }
}

/**
 * Times are rounded outward, but never beyond the maximum of a request, so that a client can request the returned range
 * again.
 */
export function writeTimeline(request: TimeRange, { segments, gaps }: Stretches): Timeline {
  const startMs = Math.floor(request.startMs / 1000) * 1000
  const endMs = Math.min(Math.ceil(request.endMs / 1000) * 1000, startMs + maxTimelineMs)
  const write = (stretch: TimeRange) => ({
    start: writeTime(stretch.startMs),
    end: writeTimeUp(Math.min(stretch.endMs, endMs)),
  })
  const isInside = (stretch: TimeRange) => stretch.startMs < endMs
  return {
    start: writeTime(startMs),
    end: writeTime(endMs),
    segments: segments.filter(isInside).map(write),
    gaps: gaps.filter(isInside).map((gap) => ({ ...write(gap), reason: gap.reason })),
  }
}

export function writeRecordedStream({ urls }: StreamSession): RecordedStream {
  const { controls, play, pause, speed } = urls
  return {
    format: 'hls',
    url: urls.playlist,
    stream_info: urls.info,
    stream_controls: { base_url: controls, play, pause, speed },
  }
}

export function writeStreamInfo({ currentMs, positionMs, speed, state }: Position): StreamInfo {
  return { current_time: writeTime(currentMs), current_position: positionMs / 1000, speed, state }
}
