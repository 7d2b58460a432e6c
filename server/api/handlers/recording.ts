// /v1/cameras/{camera_id}/recording/: what is recorded and how it is played, and our extensions that turn it on and off. Rows only, as for cameras.

import type { NewRecording, RecordingChange } from '../../../contract/recording.ts'
import { AppError } from '../../base/error.ts'
import { parseDurationMs } from '../../model/duration.ts'
import { getTime, getTimeRange, maxTimelineMs } from '../../model/time-range.ts'
import type { Recording as RecordingRow } from '../../store/recordings.ts'
import type { Store } from '../../store/store.ts'
import { writeRecordedStream, writeRecording, writeStreamInfo, writeTimeline } from '../answers/recording.ts'
import type { Handlers } from '../call.ts'
import type { Recorded } from '../deps.ts'
import { getOwnCamera } from '../own-camera.ts'

export type RecordingHandlersOptions = {
  readonly store: Pick<Store, 'cameras' | 'recordings'>
  readonly recorded: Pick<Recorded, 'info' | 'timeline' | 'createStream' | 'getStreamInfo'>
}

type Names =
  | 'getRecording'
  | 'getTimeline'
  | 'createStream'
  | 'getStreamInfo'
  | 'enableRecording'
  | 'updateRecording'
  | 'disableRecording'

export function createRecordingHandlers({ store, recorded }: RecordingHandlersOptions): Pick<Handlers, Names> {
  const { recordings } = store

  const show = async (recording: RecordingRow) => writeRecording(recording, await recorded.info(recording.cameraId))

  return {
    async getRecording({ caller, params }) {
      return show(await getOwnRecording(store, caller.userId, params.camera_id))
    },

    async getTimeline(call) {
      const { cameraId } = await getOwnRecording(store, call.caller.userId, call.params.camera_id)
      const range = getTimeRange(call.query(), maxTimelineMs)
      return writeTimeline(range, await recorded.timeline(cameraId, range.startMs, range.endMs))
    },

    async createStream(call) {
      const { userId, credential } = call.caller
      const { cameraId, status } = await getOwnRecording(store, userId, call.params.camera_id)
      const { start, end } = call.query()
      const range = end === undefined ? { startMs: getTime('start', start) } : getTimeRange({ start, end })
      const isWriting = status === 'RECORDING'
      return writeRecordedStream(
        await recorded.createStream({ cameraId, userId, credential, ...range, isRecording: true, isWriting }),
      )
    },

    async getStreamInfo({ caller, params: { streamer_name, streamer_id } }) {
      return writeStreamInfo(await recorded.getStreamInfo(streamer_id, caller.userId, streamer_name))
    },

    async enableRecording(call) {
      const { id } = await getOwnCamera(store, call.caller.userId, call.params.camera_id)
      const known = await recordings.find(id)
      // Turned on again it begins anew; while it is on, what the body does not name stays.
      const keptBytes = known?.deactivatedAtMs === null ? known.maxBytes : null
      const { retention, max_bytes: maxBytes = keptBytes }: NewRecording = call.body()
      checkRetention(retention)
      return show(await recordings.enable(id, { retention, maxBytes }))
    },

    async updateRecording(call) {
      const recording = await getOwnRecording(store, call.caller.userId, call.params.camera_id)
      const { retention = recording.retention, max_bytes: maxBytes = recording.maxBytes }: RecordingChange = call.body()
      checkRetention(retention)
      return show(await recordings.enable(recording.cameraId, { retention, maxBytes }))
    },

    async disableRecording({ caller, params }) {
      const { cameraId } = await getOwnRecording(store, caller.userId, params.camera_id)
      await recordings.disable(cameraId)
      return null
    },
  }
}

/** The recording of an own camera. Throws 'not_found', also while recording is off. */
export async function getOwnRecording(
  store: Pick<Store, 'cameras' | 'recordings'>,
  userId: number,
  cameraId: number,
): Promise<RecordingRow> {
  const { id } = await getOwnCamera(store, userId, cameraId)
  const recording = await store.recordings.find(id)
  if (recording === undefined || recording.deactivatedAtMs !== null)
    throw new AppError('not_found', `camera ${id} is not recorded`)
  return recording
}

function checkRetention(text: string): void {
  try {
    parseDurationMs(text)
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    throw new AppError('invalid', `retention: ${cause.message}`, { cause, fields: { retention: [cause.message] } })
  }
}
