// What is answered by the server that connects the cameras: adding and changing them, which looks at what their URL
// leads to, and their statistics. Only rows are written: whatever runs the cameras learns of changes from the store.

import type { CameraChange, NewCamera } from '../../../contract/camera.ts'
import { parseCameraName } from '../../model/camera-name.ts'
import { guessCameraType, isSameOrigin, parseCameraUrl } from '../../model/camera-url.ts'
import type { Camera as CameraRow, CameraChange as RowChange } from '../../store/cameras/cameras.ts'
import type { Store } from '../../store/store.ts'
import { writeCamera } from '../answers/camera.ts'
import { writeStatistics } from '../answers/statistics.ts'
import type { Handlers } from '../call.ts'
import { readSource } from '../camera-source.ts'
import type { Detector, FigureSource } from '../deps.ts'
import type { MediaUrls } from '../media-urls.ts'

export type CameraChangeHandlersOptions = {
  readonly store: Pick<Store, 'users' | 'cameras' | 'recordings'>
  readonly urls: MediaUrls
  /** Maximum number of cameras per user, except for owners of the server; undefined for no limit. */
  readonly cameraLimit?: number | undefined
  readonly detector: Pick<Detector, 'findType' | 'checkAddress' | 'checkMayAdd' | 'countTry'>
  readonly figures: FigureSource
}

type Names = 'getCameraStatistics' | 'createCamera' | 'updateCamera'

export function createCameraChangeHandlers(options: CameraChangeHandlersOptions): Pick<Handlers, Names> {
  const { store, urls, detector, cameraLimit, figures } = options
  const { cameras } = store

  const findLimit = async (userId: number) =>
    cameraLimit === undefined || (await store.users.get(userId)).isOwner ? undefined : cameraLimit

  return {
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
      return writeCamera(camera, undefined, {}, urls.forCamera(camera.id, call.caller, {}))
    },

    async updateCamera(call) {
      const { camera } = call
      const change = readChange(camera, call.body())
      // An unchanged URL may have been added when it was allowed.
      if (change.url !== undefined && change.url !== camera.url) detector.checkAddress(change.url)
      if (isOtherSource(camera, change)) await detector.countTry(call.caller.userId)
      const changed = await cameras.update(camera.id, change)
      const recording = await store.recordings.find(camera.id)
      return writeCamera(changed, recording, {}, urls.forCamera(camera.id, call.caller, {}))
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
