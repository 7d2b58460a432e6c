// …/{camera_id}/recording/pictures/ and …/download/ of owned and shared cameras.

import type { Endpoints } from '../../../contract/endpoints.ts'
import { createLiveView } from '../../model/live-view.ts'
import { getTimeRange } from '../../model/time-range.ts'
import { maxDownloadMs } from '../../playback/downloads.ts'
import type { Call, Handlers } from '../call.ts'
import type { Recorded } from '../deps.ts'
import type { MediaUrls } from '../media-urls.ts'

export type FootageHandlersOptions = {
  readonly urls: MediaUrls
  readonly recorded: Pick<Recorded, 'createDownload'>
}

type Names = 'getPictures' | 'getSharedPictures' | 'createDownload' | 'createSharedDownload'

type RecordedImagesCall = Call<Endpoints['getPictures' | 'getSharedPictures']>
type DownloadCall = Call<Endpoints['createDownload' | 'createSharedDownload']>

export function createFootageHandlers({ urls: mediaUrls, recorded }: FootageHandlersOptions): Pick<Handlers, Names> {
  const getPictures = async ({ recording, caller, query }: RecordedImagesCall) => ({
    url: mediaUrls.forRecordedImages(recording.cameraId, caller, createLiveView(query())),
  })

  const createDownload = async ({ recording: { cameraId }, caller: { userId, credential }, query }: DownloadCall) => {
    const { filename, gaps, ...times } = query()
    const range = getTimeRange(times, maxDownloadMs)
    const { urls } = await recorded.createDownload({ cameraId, userId, credential, ...range })
    const rest = new URLSearchParams({ ...(filename && { filename }), ...(gaps && { gaps }) }).toString()
    return { url: `${urls.download}${rest && `?${rest}`}` }
  }

  return { getPictures, getSharedPictures: getPictures, createDownload, createSharedDownload: createDownload }
}
