// /v1/shared-cameras/: cameras that others share with the caller, who may give them up. Owned cameras are not included.

import type { Accounts } from '../../auth/accounts/accounts.ts'
import { createLiveView } from '../../model/live-view.ts'
import { getPage } from '../../model/page.ts'
import type { Store } from '../../store/store.ts'
import { writeSharedCamera } from '../answers/camera.ts'
import type { Handlers } from '../call.ts'
import type { MediaUrls } from '../media-urls.ts'
import { writeListing } from '../page-of.ts'

export type SharedCameraHandlersOptions = {
  readonly store: Pick<Store, 'users' | 'cameras' | 'recordings' | 'shares'>
  readonly accounts: Pick<Accounts, 'guests'>
  readonly urls: MediaUrls
  /** Origin of links, without a trailing slash. */
  readonly publicUrl: string
}

type Names = 'listSharedCameras' | 'getSharedCamera' | 'deleteSharedCamera'

export function createSharedCameraHandlers(options: SharedCameraHandlersOptions): Pick<Handlers, Names> {
  const { store, accounts, urls, publicUrl } = options
  const { users, cameras, recordings, shares } = store

  return {
    async listSharedCameras(call) {
      const query = call.query()
      const { userId } = call.caller
      const view = createLiveView(query)
      const page = getPage(query)
      const [count, rows] = await Promise.all([shares.countCameras(userId), shares.listCameras(userId, page)])
      const policies = await recordings.listByCameras(rows.map(({ camera }) => camera.id))
      const recordingOf = new Map(policies.map((recording) => [recording.cameraId, recording]))
      const results = rows.map((row) => {
        const { id } = row.camera
        return writeSharedCamera(row, recordingOf.get(id), view, urls.forCamera(id, call.caller, view))
      })
      return writeListing(call, `${publicUrl}/v1/shared-cameras/`, page, count, results)
    },

    async getSharedCamera(call) {
      const { camera_id: id } = call.params
      const camera = await cameras.get(id)
      const view = createLiveView(call.query())
      const [owner, recording] = await Promise.all([users.get(camera.ownerId), recordings.find(id)])
      return writeSharedCamera(
        { camera, owner, share: call.share },
        recording,
        view,
        urls.forCamera(id, call.caller, view),
      )
    },

    async deleteSharedCamera(call) {
      const { userId } = call.caller
      const { camera_id: cameraId } = call.params
      await accounts.guests.leave({ cameraId, userId, context: call.context() })
      return null
    },
  }
}
