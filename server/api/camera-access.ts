// Who may see which camera, remembered while the store does not change. Asked again and again while a stream is open.

import type { Authenticator } from '../auth/authenticator.ts'
import type { MediaGrant } from '../auth/media-token.ts'
import type { Store } from '../store/store.ts'
import { VersionedCache } from '../store/versioned-cache.ts'

export type CameraAccessOptions = {
  readonly store: Pick<Store, 'cameras' | 'users' | 'version'>
  readonly authenticator: Pick<Authenticator, 'isLive'>
}

export class CameraAccess {
  readonly #store: CameraAccessOptions['store']
  readonly #authenticator: CameraAccessOptions['authenticator']
  readonly #answers: VersionedCache<string, boolean>

  constructor({ store, authenticator }: CameraAccessOptions) {
    this.#store = store
    this.#authenticator = authenticator
    this.#answers = new VersionedCache(store, { maxEntries: 10_000 })
  }

  /** Whether the user may see the camera: it exists, is theirs, and their account is not disabled. */
  canView(userId: number, cameraId: number): Promise<boolean> {
    return this.#answers.load(`${userId} ${cameraId}`, async () => {
      const [user, camera] = await Promise.all([this.#store.users.find(userId), this.#store.cameras.find(cameraId)])
      return user !== undefined && user.disabledAtMs === null && camera?.ownerId === userId
    })
  }

  /** Whether a URL signed earlier may still be used: the viewer's right, and the credential it was answered to. */
  async isGranted({
    userId,
    cameraId,
    credential,
  }: Pick<MediaGrant, 'userId' | 'cameraId' | 'credential'>): Promise<boolean> {
    return (await this.canView(userId, cameraId)) && this.#authenticator.isLive(credential)
  }
}
