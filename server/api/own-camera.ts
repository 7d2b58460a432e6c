// The camera a path names, if it is the caller's own. Somebody else's does not exist, to the byte.

import { AppError } from '../base/error.ts'
import type { Camera } from '../store/cameras/cameras.ts'
import type { Store } from '../store/store.ts'

/** Throws 'not_found'. */
export async function getOwnCamera(store: Pick<Store, 'cameras'>, userId: number, cameraId: number): Promise<Camera> {
  const camera = await store.cameras.find(cameraId)
  if (camera?.ownerId !== userId) throw new AppError('not_found', `user ${userId} has no camera ${cameraId}`)
  return camera
}
