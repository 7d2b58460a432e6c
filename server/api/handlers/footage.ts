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
  /** Without a trailing slash. */
  readonly publicUrl: string
}

type Names = 'getPictures' | 'getSharedPictures' | 'createDownload' | 'createSharedDownload'

type RecordedImagesCall = Call<Endpoints['getPictures' | 'getSharedPictures']>
type DownloadCall = Call<Endpoints['createDownload' | 'createSharedDownload']>

export function createFootageHandlers({ urls, recorded, publicUrl }: FootageHandlersOptions): Pick<Handlers, Names> {
  const getPictures = async ({ recording, caller, query }: RecordedImagesCall) => ({
    url: urls.forRecordedImages(recording.cameraId, caller, createLiveView(query())),
  })

  const createDownload = async ({ recording: { cameraId }, caller: { userId, credential }, query }: DownloadCall) => {
    const { filename, gaps, ...times } = query()
    const range = getTimeRange(times, maxDownloadMs)
    const id = await recorded.createDownload({ cameraId, userId, credential, ...range })
    const rest = new URLSearchParams({ ...(filename && { filename }), ...(gaps && { gaps }) }).toString()
    return { url: `${publicUrl}/recording/streams/${id}/download.mp4${rest && `?${rest}`}` }
  }

  return { getPictures, getSharedPictures: getPictures, createDownload, createSharedDownload: createDownload }
}
