// …/{camera_id}/recording/pictures/ and …/download/ of owned and shared cameras.

import type { Caller } from '../../auth/caller.ts'
import { createLiveView } from '../../model/live-view.ts'
import { getTimeRange } from '../../model/time-range.ts'
import { maxDownloadMs } from '../../playback/playback.ts'
import type { Store } from '../../store/store.ts'
import type { Handlers } from '../call.ts'
import type { CameraAccess } from '../camera-access.ts'
import type { Recorded } from '../deps.ts'
import type { MediaUrls } from '../media-urls.ts'
import { getOwnRecording, getSharedRecording } from './recording.ts'

export type FootageHandlersOptions = {
  readonly store: Pick<Store, 'cameras' | 'recordings'>
  readonly access: CameraAccess
  readonly urls: MediaUrls
  readonly recorded: Pick<Recorded, 'createDownload'>
  /** Without a trailing slash. */
  readonly publicUrl: string
}

type Names = 'getPictures' | 'getSharedPictures' | 'createDownload' | 'createSharedDownload'

type DownloadQuery = {
  readonly start: string
  readonly end: string
  readonly filename?: string | undefined
  readonly gaps?: string | undefined
}

export function createFootageHandlers({
  store,
  access,
  urls,
  recorded,
  publicUrl,
}: FootageHandlersOptions): Pick<Handlers, Names> {
  const download = async (cameraId: number, { userId, credential }: Caller, query: DownloadQuery) => {
    const range = getTimeRange(query, maxDownloadMs)
    const id = await recorded.createDownload({ cameraId, userId, credential, ...range })
    const { filename, gaps } = query
    const rest = new URLSearchParams({ ...(filename && { filename }), ...(gaps && { gaps }) }).toString()
    return { url: `${publicUrl}/recording/streams/${id}/download.mp4${rest && `?${rest}`}` }
  }

  return {
    async getPictures({ caller, params, query }) {
      const { cameraId } = await getOwnRecording(store, caller.userId, params.camera_id)
      return { url: urls.forRecordedPictures(cameraId, caller, createLiveView(query())) }
    },

    async getSharedPictures({ caller, params, query }) {
      const { cameraId } = await getSharedRecording({ store, access }, caller.userId, params.camera_id)
      return { url: urls.forRecordedPictures(cameraId, caller, createLiveView(query())) }
    },

    async createDownload(call) {
      const { cameraId } = await getOwnRecording(store, call.caller.userId, call.params.camera_id)
      return download(cameraId, call.caller, call.query())
    },

    async createSharedDownload(call) {
      const { caller, params } = call
      const { cameraId } = await getSharedRecording({ store, access }, caller.userId, params.camera_id)
      const answer = await download(cameraId, caller, call.query())
      await access.noteLook(caller.userId, cameraId)
      return answer
    },
  }
}
