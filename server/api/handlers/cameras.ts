// /v1/cameras/: the caller's cameras, and our extensions to add, change and delete them. Only rows are written:
// whatever runs the cameras learns of changes from the store.

import type { CameraChange, NewCamera } from '../../../contract/camera.ts'
import type { Caller } from '../../auth/caller.ts'
import type { Audit } from '../../auth/guard/audit.ts'
import { parseCameraName } from '../../model/camera-name.ts'
import { guessCameraType, hideSecrets, isSameOrigin, parseCameraUrl } from '../../model/camera-url.ts'
import { createLiveView, type LiveView } from '../../model/live-view.ts'
import { getPage, writePageLinks } from '../../model/page.ts'
import type { Camera as CameraRow, CameraChange as RowChange } from '../../store/cameras/cameras.ts'
import type { Store } from '../../store/store.ts'
import { writeCamera } from '../answers/camera.ts'
import { writeStatistics } from '../answers/statistics.ts'
import type { Handlers } from '../call.ts'
import { readSource } from '../camera-source.ts'
import type { Detector, FigureSource } from '../deps.ts'
import type { MediaUrls } from '../media-urls.ts'

export type CameraHandlersOptions = {
  readonly store: Pick<Store, 'users' | 'cameras' | 'recordings'>
  readonly urls: MediaUrls
  readonly audit: Pick<Audit, 'write'>
  /** Maximum number of cameras per user, except for owners of the server; undefined for no limit. */
  readonly cameraLimit?: number | undefined
  readonly detector: Pick<Detector, 'findType' | 'checkAddress' | 'checkMayAdd' | 'countTry'>
  readonly figures: FigureSource
  /** Origin of links, without a trailing slash. */
  readonly publicUrl: string
}

type Names =
  | 'listCameras'
  | 'getCamera'
  | 'getCameraSource'
  | 'getCameraStatistics'
  | 'createCamera'
  | 'updateCamera'
  | 'deleteCamera'
  | 'rotateEventHash'

export function createCameraHandlers(options: CameraHandlersOptions): Pick<Handlers, Names> {
  const { store, urls, audit, detector, publicUrl, cameraLimit, figures } = options
  const { cameras, recordings } = store

  const show = async (camera: CameraRow, caller: Caller, view: LiveView = {}) =>
    writeCamera(camera, await recordings.find(camera.id), view, urls.forCamera(camera.id, caller, view))

  const findLimit = async (userId: number) =>
    cameraLimit === undefined || (await store.users.get(userId)).isOwner ? undefined : cameraLimit

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

    async getCameraStatistics({ camera }) {
      return writeStatistics(figures.find(camera.id))
    },

    async createCamera(call) {
      const { userId } = call.caller
      await detector.checkMayAdd(userId)
      const body: NewCamera = call.body()
      const source = readSource(body)
      const name = parseCameraName(body.name)
      detector.checkAddress(source.url)
      await detector.countTry(userId)
      const found = body.type ?? (await detector.findType(source, { userId, signal: call.signal() }))
      const type = found ?? guessCameraType(source.url)
      const maxOfOwner = await findLimit(userId)
      const camera = await cameras.insert({ ownerId: userId, name, type, ...source, maxOfOwner })
      return show(camera, call.caller)
    },

    async updateCamera(call) {
      const { camera } = call
      const change = readChange(camera, call.body())
      // An unchanged URL may have been added when it was allowed.
      if (change.url !== undefined && change.url !== camera.url) detector.checkAddress(change.url)
      if (isOtherSource(camera, change)) await detector.countTry(call.caller.userId)
      return show(await cameras.update(camera.id, change), call.caller)
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

/** True if the change reconnects the camera. */
function isOtherSource(camera: CameraRow, change: RowChange): boolean {
  return (['url', 'username', 'password'] as const).some(
    (name) => change[name] !== undefined && change[name] !== camera[name],
  )
}

/**
 * Fields that the body omits keep their values. A URL with another scheme, host or port and without user information
 * does not keep the credentials: a user who may change a camera must not be able to send its password elsewhere, or
 * unencrypted.
 */
function readChange(
  camera: CameraRow,
  { name, type, url, username, password, keeps_damaged_pictures: keepsDamaged }: CameraChange,
): RowChange {
  const source = url === undefined ? undefined : parseCameraUrl(url)
  const isOtherOrigin = source !== undefined && !isSameOrigin(source.url, camera.url)
  const isNamed = source !== undefined && source.username !== null
  return {
    ...(name !== undefined && { name: parseCameraName(name) }),
    ...(type !== undefined && { type }),
    ...(keepsDamaged !== undefined && { keepsDamaged }),
    ...(source && { url: source.url }),
    ...((isOtherOrigin || isNamed) && { username: source.username, password: source.password }),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  }
}
