// …/{camera_id}/recording/ of owned and shared cameras: status and playback, and our extensions to turn recording on
// and off, and to start and stop it while it is on. Only rows are written, as for cameras.

import type { Endpoints } from '../../../contract/endpoints.ts'
import type { NewRecording, RecordingChange } from '../../../contract/recording.ts'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import { parseDurationMs } from '../../model/duration.ts'
import { isRecordedAt } from '../../model/recording-run.ts'
import { getTime, getTimeRange, maxTimelineMs } from '../../model/time-range.ts'
import type { Recording as RecordingRow } from '../../store/cameras/recordings.ts'
import type { Store } from '../../store/store.ts'
import { writeRecordedStream, writeRecording, writeStreamInfo, writeTimeline } from '../answers/recording.ts'
import type { Call, Handlers } from '../call.ts'
import type { Recorded } from '../deps.ts'

export type RecordingHandlersOptions = {
  readonly store: Pick<Store, 'recordings'>
  readonly recorded: Pick<Recorded, 'info' | 'timeline' | 'createStream' | 'getStreamInfo'>
  readonly clock: Pick<Clock, 'nowMs'>
}

type TimelineCall = Call<Endpoints['getTimeline' | 'getSharedTimeline']>
type StreamCall = Call<Endpoints['createStream' | 'createSharedStream']>

type Names =
  | 'getRecording'
  | 'getTimeline'
  | 'createStream'
  | 'getSharedRecording'
  | 'getSharedTimeline'
  | 'createSharedStream'
  | 'getStreamInfo'
  | 'enableRecording'
  | 'updateRecording'
  | 'disableRecording'
  | 'startRecording'
  | 'stopRecording'

export function createRecordingHandlers(options: RecordingHandlersOptions): Pick<Handlers, Names> {
  const { recorded, clock } = options
  const { recordings } = options.store

  const show = async (recording: RecordingRow) => writeRecording(recording, await recorded.info(recording.cameraId))

  const getTimeline = async ({ recording: { cameraId }, query }: TimelineCall) => {
    const range = getTimeRange(query(), maxTimelineMs)
    return writeTimeline(range, await recorded.timeline(cameraId, range.startMs, range.endMs))
  }

  const createStream = async ({ recording, caller, query }: StreamCall) => {
    const { start, end } = query()
    const range = end === undefined ? { startMs: getTime('start', start) } : getTimeRange({ start, end })
    const { cameraId, status } = recording
    const { userId, credential } = caller
    const isWriting = status === 'RECORDING'
    const isRecording = isRecordedAt(recording, clock.nowMs())
    return writeRecordedStream(
      await recorded.createStream({ cameraId, userId, credential, ...range, isRecording, isWriting }),
    )
  }

  return {
    getRecording: ({ recording }) => show(recording),

    // Disk errors concern only the owner.
    getSharedRecording: async ({ recording }) => ({ ...(await show(recording)), status_reason: null }),

    getTimeline,
    getSharedTimeline: getTimeline,
    createStream,
    createSharedStream: createStream,

    async getStreamInfo({ caller, params: { streamer_name, streamer_id } }) {
      return writeStreamInfo(await recorded.getStreamInfo(streamer_id, caller.userId, streamer_name))
    },

    async enableRecording({ camera: { id }, body }) {
      const known = await recordings.find(id)
      // Recording that is turned on again starts from defaults; while it is on, omitted fields keep their values.
      const kept = known?.deactivatedAtMs === null ? known : undefined
      const change: NewRecording = body()
      return show(await recordings.enable(id, readPolicy(change.retention, change, kept)))
    },

    async updateRecording({ recording, body }) {
      const change: RecordingChange = body()
      const policy = readPolicy(change.retention ?? recording.retention, change, recording)
      return show(await recordings.update(recording.cameraId, policy))
    },

    async disableRecording({ recording }) {
      await recordings.disable(recording.cameraId)
      return null
    },

    async startRecording({ recording, query }) {
      const { duration } = query()
      await recordings.start(recording.cameraId, duration === undefined ? null : clock.nowMs() + duration * 1000)
      return null
    },

    async stopRecording({ recording }) {
      await recordings.stop(recording.cameraId)
      return null
    },
  }
}

/** `kept`: what fields that are not given keep. */
function readPolicy(
  retention: string,
  { max_bytes, local_retention }: RecordingChange,
  kept: Pick<RecordingRow, 'maxBytes' | 'localRetention'> = { maxBytes: null, localRetention: null },
) {
  const { maxBytes, localRetention } = kept
  checkDuration('retention', retention)
  if (typeof local_retention === 'string') checkDuration('local_retention', local_retention)
  return {
    retention,
    maxBytes: max_bytes === undefined ? maxBytes : max_bytes,
    localRetention: local_retention === undefined ? localRetention : local_retention,
  }
}

function checkDuration(field: keyof RecordingChange, text: string): void {
  try {
    parseDurationMs(text)
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    throw new AppError('invalid', `${field}: ${cause.message}`, { cause, fields: { [field]: [cause.message] } })
  }
}
