// /v1/cameras/: the caller's cameras, and our extension to delete them. Only rows are written: whatever runs the cameras
// learns of changes from the store.

import type { Caller } from '../../auth/caller.ts'
import type { Audit } from '../../auth/guard/audit.ts'
import { hideSecrets } from '../../model/camera-url.ts'
import { createLiveView, type LiveView } from '../../model/live-view.ts'
import { getPage, writePageLinks } from '../../model/page.ts'
import type { Camera as CameraRow } from '../../store/cameras/cameras.ts'
import type { Store } from '../../store/store.ts'
import { writeCamera } from '../answers/camera.ts'
import type { Handlers } from '../call.ts'
import type { MediaUrls } from '../media-urls.ts'

export type CameraHandlersOptions = {
  readonly store: Pick<Store, 'cameras' | 'recordings'>
  readonly urls: MediaUrls
  readonly audit: Pick<Audit, 'write'>
  /** Origin of links, without a trailing slash. */
  readonly publicUrl: string
}

type Names = 'listCameras' | 'getCamera' | 'getCameraSource' | 'deleteCamera' | 'rotateEventHash'

export function createCameraHandlers(options: CameraHandlersOptions): Pick<Handlers, Names> {
  const { store, urls, audit, publicUrl } = options
  const { cameras, recordings } = store

  const show = async (camera: CameraRow, caller: Caller, view: LiveView = {}) =>
    writeCamera(camera, await recordings.find(camera.id), view, urls.forCamera(camera.id, caller, view))

  return {
    async listCameras(call) {
      const query = call.query()
      const { userId } = call.caller
      const view = createLiveView(query)
      const page = getPage(query)
      const [count, rows] = await Promise.all([cameras.countByOwner(userId), cameras.listByOwner(userId, page)])
      const policies = await recordings.listByCameras(rows.map(({ id }) => id))
      const recordingOf = new Map(policies.map((recording) => [recording.cameraId, recording]))
      return {
        count,
        ...writePageLinks(`${publicUrl}/v1/cameras/`, call.queryText, count, page),
        results: rows.map((row) =>
          writeCamera(row, recordingOf.get(row.id), view, urls.forCamera(row.id, call.caller, view)),
        ),
      }
    },

    async getCamera(call) {
      return show(call.camera, call.caller, createLiveView(call.query()))
    },

    async getCameraSource({ camera: { url, username, password } }) {
      return { url: hideSecrets(url), username: username === '' ? null : username, has_password: Boolean(password) }
    },

    async rotateEventHash(call) {
      const { userId } = call.caller
      const { id } = call.camera
      const changed = await cameras.rotateEventApiHash(id)
      audit.write({ event: 'camera.hash_replaced', userId, context: call.context(), detail: { camera: id } })
      return show(changed, call.caller)
    },

    async deleteCamera({ camera }) {
      await cameras.remove(camera.id)
      return null
    },
  }
}
