// …/{camera_id}/recording/ of owned and shared cameras: status and playback, and our extensions to turn recording on
// and off, and to start and stop it while it is on. Only rows are written, as for cameras.

import type { NewRecording, RecordingChange } from '../../../contract/recording.ts'
import type { Caller } from '../../auth/caller.ts'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import { parseDurationMs } from '../../model/duration.ts'
import { isRecordedAt } from '../../model/recording-run.ts'
import { getTime, getTimeRange, maxTimelineMs } from '../../model/time-range.ts'
import type { Recording as RecordingRow } from '../../store/recordings.ts'
import type { Store } from '../../store/store.ts'
import { writeRecordedStream, writeRecording, writeStreamInfo, writeTimeline } from '../answers/recording.ts'
import type { Handlers } from '../call.ts'
import type { CameraAccess } from '../camera-access.ts'
import type { Recorded } from '../deps.ts'
import { getOwnCamera } from '../own-camera.ts'

export type RecordingHandlersOptions = {
  readonly store: Pick<Store, 'cameras' | 'recordings'>
  readonly access: CameraAccess
  readonly recorded: Pick<Recorded, 'info' | 'timeline' | 'createStream' | 'getStreamInfo'>
  readonly clock: Pick<Clock, 'nowMs'>
}

type TimelineQuery = { readonly start: string; readonly end: string }
type StreamQuery = { readonly start: string; readonly end?: string | undefined }

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
  const { store, access, recorded, clock } = options
  const { recordings } = store

  const show = async (recording: RecordingRow) => writeRecording(recording, await recorded.info(recording.cameraId))

  const timeline = async ({ cameraId }: RecordingRow, query: TimelineQuery) => {
    const range = getTimeRange(query, maxTimelineMs)
    return writeTimeline(range, await recorded.timeline(cameraId, range.startMs, range.endMs))
  }

  const stream = async (recording: RecordingRow, { userId, credential }: Caller, { start, end }: StreamQuery) => {
    const range = end === undefined ? { startMs: getTime('start', start) } : getTimeRange({ start, end })
    const { cameraId, status } = recording
    const isWriting = status === 'RECORDING'
    const isRecording = isRecordedAt(recording, clock.nowMs())
    return writeRecordedStream(
      await recorded.createStream({ cameraId, userId, credential, ...range, isRecording, isWriting }),
    )
  }

  return {
    async getRecording({ caller, params }) {
      return show(await getOwnRecording(store, caller.userId, params.camera_id))
    },

    async getTimeline(call) {
      return timeline(await getOwnRecording(store, call.caller.userId, call.params.camera_id), call.query())
    },

    async createStream(call) {
      const { userId } = call.caller
      return stream(await getOwnRecording(store, userId, call.params.camera_id), call.caller, call.query())
    },

    async getSharedRecording({ caller: { userId }, params }) {
      const recording = await getSharedRecording(options, userId, params.camera_id)
      await access.noteLook(userId, recording.cameraId)
      // Disk errors concern only the owner.
      return { ...(await show(recording)), status_reason: null }
    },

    async getSharedTimeline(call) {
      const { userId } = call.caller
      const recording = await getSharedRecording(options, userId, call.params.camera_id)
      const answer = await timeline(recording, call.query())
      await access.noteLook(userId, recording.cameraId)
      return answer
    },

    async createSharedStream(call) {
      const { userId } = call.caller
      const recording = await getSharedRecording(options, userId, call.params.camera_id)
      const answer = await stream(recording, call.caller, call.query())
      await access.noteLook(userId, recording.cameraId)
      return answer
    },

    async getStreamInfo({ caller, params: { streamer_name, streamer_id } }) {
      return writeStreamInfo(await recorded.getStreamInfo(streamer_id, caller.userId, streamer_name))
    },

    async enableRecording(call) {
      const { id } = await getOwnCamera(store, call.caller.userId, call.params.camera_id)
      const known = await recordings.find(id)
      // Recording that is turned on again starts from defaults; while it is on, omitted fields keep their values.
      const keptBytes = known?.deactivatedAtMs === null ? known.maxBytes : null
      const { retention, max_bytes: maxBytes = keptBytes }: NewRecording = call.body()
      checkRetention(retention)
      return show(await recordings.enable(id, { retention, maxBytes }))
    },

    async updateRecording(call) {
      const recording = await getOwnRecording(store, call.caller.userId, call.params.camera_id)
      const { retention = recording.retention, max_bytes: maxBytes = recording.maxBytes }: RecordingChange = call.body()
      checkRetention(retention)
      return show(await recordings.update(recording.cameraId, { retention, maxBytes }))
    },

    async disableRecording({ caller, params }) {
      const { cameraId } = await getOwnRecording(store, caller.userId, params.camera_id)
      await recordings.disable(cameraId)
      return null
    },

    async startRecording(call) {
      const { cameraId } = await getOwnRecording(store, call.caller.userId, call.params.camera_id)
      const { duration } = call.query()
      await recordings.start(cameraId, duration === undefined ? null : clock.nowMs() + duration * 1000)
      return null
    },

    async stopRecording({ caller, params }) {
      const { cameraId } = await getOwnRecording(store, caller.userId, params.camera_id)
      await recordings.stop(cameraId)
      return null
    },
  }
}

/** The recording of an owned camera. Throws 'not_found', also while recording is off. */
export async function getOwnRecording(
  store: Pick<Store, 'cameras' | 'recordings'>,
  userId: number,
  cameraId: number,
): Promise<RecordingRow> {
  const { id } = await getOwnCamera(store, userId, cameraId)
  return getRecording(store, id)
}

/** The recording of a camera whose guest may see it. Throws 'not_found', also while recording is off. */
export async function getSharedRecording(
  { store, access }: Pick<RecordingHandlersOptions, 'store' | 'access'>,
  userId: number,
  cameraId: number,
): Promise<RecordingRow> {
  const { canViewRecordings } = await access.getGuestRight(userId, cameraId)
  if (!canViewRecordings) throw new AppError('not_found', `user ${userId} may not see recordings of camera ${cameraId}`)
  return getRecording(store, cameraId)
}

async function getRecording({ recordings }: Pick<Store, 'recordings'>, cameraId: number): Promise<RecordingRow> {
  const recording = await recordings.find(cameraId)
  if (recording === undefined || recording.deactivatedAtMs !== null)
    throw new AppError('not_found', `camera ${cameraId} is not recorded`)
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
