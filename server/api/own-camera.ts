// Finds the camera that a path names. Cameras of other users get the same response as cameras that do not exist.

import { AppError } from '../base/error.ts'
import type { Camera } from '../store/cameras/cameras.ts'
import type { Store } from '../store/store.ts'

/** Throws 'not_found'. */
export async function getOwnCamera(store: Pick<Store, 'cameras'>, userId: number, cameraId: number): Promise<Camera> {
  const camera = await store.cameras.find(cameraId)
  if (camera?.ownerId !== userId) throw new AppError('not_found', `user ${userId} has no camera ${cameraId}`)
  return camera
}
