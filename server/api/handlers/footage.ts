// …/{camera_id}/recording/pictures/ of own and of shared cameras: where pictures of recorded moments are.

import type { Store } from '../../store/store.ts'
import type { Handlers } from '../call.ts'
import type { CameraAccess } from '../camera-access.ts'
import type { MediaUrls } from '../media-urls.ts'
import { getOwnRecording, getSharedRecording } from './recording.ts'

export type FootageHandlersOptions = {
  readonly store: Pick<Store, 'cameras' | 'recordings'>
  readonly access: CameraAccess
  readonly urls: MediaUrls
}

type Names = 'getPictures' | 'getSharedPictures'

export function createFootageHandlers({ store, access, urls }: FootageHandlersOptions): Pick<Handlers, Names> {
  return {
    async getPictures({ caller, params }) {
      const { cameraId } = await getOwnRecording(store, caller.userId, params.camera_id)
      return { url: urls.forRecordedPictures(cameraId, caller) }
    },

    async getSharedPictures({ caller, params }) {
      const { cameraId } = await getSharedRecording({ store, access }, caller.userId, params.camera_id)
      return { url: urls.forRecordedPictures(cameraId, caller) }
    },
  }
}
