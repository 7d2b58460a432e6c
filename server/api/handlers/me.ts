// GET /v1/me/

import type { Store } from '../../store/store.ts'
import { writeUser } from '../answers/user.ts'
import type { Handlers } from '../call.ts'

export function createMeHandlers({ users, cameras }: Pick<Store, 'users' | 'cameras'>): Pick<Handlers, 'getMe'> {
  return {
    async getMe({ caller }) {
      const [user, ownCameras] = await Promise.all([users.get(caller.userId), cameras.countByOwner(caller.userId)])
      return writeUser(user, ownCameras)
    },
  }
}
