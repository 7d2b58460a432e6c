// Who may see which camera, cached until the store changes. It is checked repeatedly while a stream is open.

import type { Authenticator } from '../auth/authenticator.ts'
import type { MediaGrant } from '../auth/media-token.ts'
import { AppError } from '../base/error.ts'
import { type CameraRight, canViewLive, canViewRecordings, decideCameraRight } from '../model/camera-access.ts'
import { VersionedCache } from '../store/engine/versioned-cache.ts'
import type { Store } from '../store/store.ts'

export type CameraAccessOptions = {
  readonly store: Pick<Store, 'cameras' | 'users' | 'shares' | 'version'>
  readonly authenticator: Pick<Authenticator, 'isLive'>
}

export type GuestRight = Extract<CameraRight, { role: 'guest' }>

export class CameraAccess {
  readonly #store: CameraAccessOptions['store']
  readonly #authenticator: CameraAccessOptions['authenticator']
  readonly #rights: VersionedCache<string, CameraRight>

  constructor({ store, authenticator }: CameraAccessOptions) {
    this.#store = store
    this.#authenticator = authenticator
    this.#rights = new VersionedCache(store, { maxEntries: 10_000 })
  }

  /** What the user may do with the camera, by the rules of model/camera-access.ts. */
  find(userId: number, cameraId: number): Promise<CameraRight> {
    return this.#rights.load(`${userId} ${cameraId}`, async () => {
      const { users, cameras, shares } = this.#store
      const [user, camera] = await Promise.all([users.find(userId), cameras.find(cameraId)])
      if (!user || !camera) return { role: 'none' }
      if (user.id === camera.ownerId) return decideCameraRight({ user, owner: user, shares: [] })
      const [owner, own] = await Promise.all([users.find(camera.ownerId), shares.list(userId, cameraId)])
      return decideCameraRight({ user, owner, shares: own })
    })
  }

  /** Throws 'not_found' for everybody except guests, including the owner. */
  async getGuestRight(userId: number, cameraId: number): Promise<GuestRight> {
    const right = await this.find(userId, cameraId)
    if (right.role !== 'guest') throw new AppError('not_found', `user ${userId} is not a guest of camera ${cameraId}`)
    return right
  }

  /** Notes that the user is about to see the camera. After a guest's first look, the owner sees the guest's name. */
  async markViewed(userId: number, cameraId: number): Promise<void> {
    const right = await this.find(userId, cameraId)
    if (right.role === 'guest' && !right.isOpened) await this.#store.shares.setOpened(userId, cameraId)
  }

  /**
   * True if a signed URL may still be used: the viewer still has access and the credential it was issued for is valid.
   */
  async isGranted({ userId, cameraId, credential }: Viewer): Promise<boolean> {
    return canViewLive(await this.find(userId, cameraId)) && this.#authenticator.isLive(credential)
  }

  /** Like `isGranted`, for URLs of recordings. */
  async isGrantedRecordings({ userId, cameraId, credential }: Viewer): Promise<boolean> {
    return (await this.canViewRecordings(userId, cameraId)) && this.#authenticator.isLive(credential)
  }

  async canViewRecordings(userId: number, cameraId: number): Promise<boolean> {
    return canViewRecordings(await this.find(userId, cameraId))
  }
}

type Viewer = Pick<MediaGrant, 'userId' | 'cameraId' | 'credential'>
