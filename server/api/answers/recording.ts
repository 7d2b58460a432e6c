// Recordings and their timelines as clients see them.

import type { Recording, Timeline } from '../../../contract/recording.ts'
import { writeTime, writeTimeUp } from '../../model/time.ts'
import type { TimeRange } from '../../model/time-range.ts'
import type { Timeline as Stretches } from '../../model/timeline.ts'
import type { Recording as RecordingRow } from '../../store/recordings.ts'
import type { FootageBounds } from '../deps.ts'

export function writeRecording(recording: RecordingRow, footage: FootageBounds | undefined): Recording {
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
  }
}

export function writeTimeline(request: TimeRange, { segments, gaps }: Stretches): Timeline {
  return {
    start: writeTime(request.startMs),
    end: writeTimeUp(request.endMs),
    segments: segments.map(({ startMs, endMs }) => ({ start: writeTime(startMs), end: writeTimeUp(endMs) })),
    gaps: gaps.map(({ startMs, endMs, reason }) => ({ start: writeTime(startMs), end: writeTimeUp(endMs), reason })),
  }
}
