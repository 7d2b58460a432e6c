// What is recorded of a camera, and how it is played.

import { type Static, Type } from 'typebox'
import { gapReasons } from './gap-reasons.ts'
import { recordingStatuses } from './recording-status.ts'
import { nullable, ours, TimeIn, Timestamp } from './schema.ts'

export const Recording = Type.Object({
  id: Type.Integer(),
  active_service_id: Type.Integer(),
  status: Type.Enum([...recordingStatuses]),
  retention: Type.String({ description: 'How long footage is kept, as an ISO 8601 duration, for example P7D.' }),
  deactivated_at: nullable(Timestamp),
  recording_start: nullable(Timestamp),
  recording_end: nullable(Timestamp),
  status_reason: nullable(
    Type.String({ ...ours, description: 'Extension. Explains the problem while `status` is ERROR.' }),
  ),
  max_bytes: nullable(
    Type.Integer({
      ...ours,
      description: 'Extension. Size limit of the footage in bytes. The oldest footage is deleted first.',
    }),
  ),
  local_retention: nullable(
    Type.String({
      ...ours,
      description:
        'Extension. How long footage stays on the local disks before it moves to a bucket, as an ISO 8601 duration. Null: as configured for the bucket.',
    }),
  ),
})

export type Recording = Static<typeof Recording>

const retention = Type.String({
  format: 'duration',
  description:
    'ISO 8601 duration of weeks, or of days, hours, minutes and seconds, up to 100 years; for example P7D. It is stored and returned as sent.',
})
const maxBytes = Type.Optional(
  nullable(
    Type.Integer({
      minimum: 1024 * 1024,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'Null means no limit. If it is omitted, a recording that is on keeps its limit, and a new one has none.',
    }),
  ),
)

const localRetention = Type.Optional(
  nullable(
    Type.String({
      format: 'duration',
      description:
        'How long footage stays on the local disks before it moves to a bucket, for example P7D. Null: as configured for the bucket. Without a bucket, it has no effect.',
    }),
  ),
)

export const NewRecording = Type.Object({ retention, max_bytes: maxBytes, local_retention: localRetention })
export const RecordingChange = Type.Object({
  retention: Type.Optional(retention),
  max_bytes: maxBytes,
  local_retention: localRetention,
})

export type NewRecording = Static<typeof NewRecording>
export type RecordingChange = Static<typeof RecordingChange>

export const StartQuery = Type.Object({
  duration: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 31_536_000,
      description: 'Duration in seconds, up to a year. Default: no end.',
    }),
  ),
})

export const TimelineQuery = Type.Object({
  start: TimeIn('Inclusive.'),
  end: TimeIn('Exclusive; at most 1 day later, and 25 hours for the day on which the clocks are set back.'),
})

export const Timeline = Type.Object({
  start: Timestamp,
  end: Timestamp,
  segments: Type.Array(Type.Object({ start: Timestamp, end: Timestamp })),
  gaps: Type.Array(
    Type.Object(
      {
        start: Timestamp,
        end: Timestamp,
        reason: Type.String({
          description: `One of these; later versions add others. ${Object.entries(gapReasons)
            .map(([reason, description]) => `${reason}: ${description}`)
            .join(' ')}`,
        }),
      },
      {
        ...ours,
        description:
          "Extension. Where footage is missing, and why; up to now while nothing is recorded. Segments do not end at breaks of less than two seconds, so such a gap can lie inside a segment. An outage with several causes has a gap for each. Where the server's clock was set back, the segments recorded after that follow and overlap those before; between them stands a gap of no length (`start` equal to `end`) with the reason `clock_set`.",
      },
    ),
  ),
})

export type Timeline = Static<typeof Timeline>

export const StreamQuery = Type.Object({
  start: TimeIn('Where playback begins.'),
  end: Type.Optional(
    TimeIn('Default: the end of the footage; while the camera records, the stream continues with live footage.'),
  ),
})

/** 1 is as it was recorded, the others are key frames alone. */
export const streamSpeeds: readonly number[] = [1, 2, 4, 8, 16]

export const RecordedStream = Type.Object({
  format: Type.Literal('hls'),
  url: Type.String({ format: 'uri' }),
  stream_info: Type.String({ format: 'uri' }),
  stream_controls: Type.Object({
    base_url: Type.String({ format: 'uri' }),
    play: Type.String({
      format: 'uri',
      description: 'Send a POST request; the response is 204. The same applies to the other two.',
    }),
    pause: Type.String({ format: 'uri' }),
    speed: Type.String({
      format: 'uri',
      description:
        'Send `{"speed": 4}` as body, or `?speed=4`. Allowed speeds are 1 (default), 2, 4, 8 and 16. Above 1, the stream contains only key frames and no audio.',
    }),
  }),
})

export type RecordedStream = Static<typeof RecordedStream>

export const StreamPath = Type.Object({ streamer_name: Type.String(), streamer_id: Type.String() })

export const StreamInfo = Type.Object({
  current_time: Timestamp,
  current_position: Type.Number({ description: 'Seconds since the start of the stream.' }),
  speed: Type.Number(),
  state: Type.Enum(['playing', 'paused']),
})

export type StreamInfo = Static<typeof StreamInfo>

export const DownloadQuery = Type.Object({
  start: TimeIn('Inclusive.'),
  end: TimeIn('Exclusive; at most 3 hours later.'),
  filename: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'File name of the download.' })),
  gaps: Type.Optional(
    Type.Enum(['skip', 'keep'], {
      description:
        '`skip` leaves gaps out; `keep` shows the last frame for the length of the gap, and nothing during a gap at the start.',
    }),
  ),
})

export const Download = Type.Object({ url: Type.String({ format: 'uri' }) })

export type Download = Static<typeof Download>

const pixels = (description: string) => Type.Optional(Type.Integer({ minimum: 1, maximum: 2147483647, description }))

export const RecordedImagesQuery = Type.Object({
  max_width: pixels('Maximum width of the images in pixels; rounded down to one of a few sizes.'),
  max_height: pixels('Maximum height of the images in pixels; rounded down to one of a few sizes.'),
})

export const RecordedImages = Type.Object({
  url: Type.String({
    format: 'uri',
    description:
      'Append `&at=` and a time (ISO 8601) to get the latest key frame up to that time as a JPEG in the requested size. Valid for two hours.',
  }),
})

export type RecordedImages = Static<typeof RecordedImages>
