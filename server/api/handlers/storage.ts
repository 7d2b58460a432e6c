// /v1/me/storage/ and /v1/users/{user_id}/storage/: storage used by recordings, and its limit. Extensions.

import type { RepairProgress } from '../../archive/background-repair.ts'
import type { Audit } from '../../auth/guard/audit.ts'
import type { Store } from '../../store/store.ts'
import { writeStorage } from '../answers/storage.ts'
import type { Handlers } from '../call.ts'
import type { StorageSource } from '../deps.ts'
import { checkOwner } from '../owner.ts'

export type StorageHandlersOptions = {
  readonly store: Pick<Store, 'users' | 'settings' | 'userLimits'>
  readonly storage: StorageSource
  readonly repair: () => RepairProgress
  readonly audit: Pick<Audit, 'write'>
}

type Names = 'getStorage' | 'getUserStorage' | 'updateUserStorage'

export function createStorageHandlers(options: StorageHandlersOptions): Pick<Handlers, Names> {
  const { store, storage, repair, audit } = options

  const show = async (userId: number) => {
    const { isOwner } = await store.users.get(userId)
    return writeStorage(await storage.read(), { userId, isOwner, repair: repair() })
  }

  return {
    getStorage(call) {
      // A server that was asked for by its name does not answer.
      call.refuse()
      return show(call.caller.userId)
    },

    async getUserStorage({ caller, params }) {
      await checkOwner(store, caller)
      return show(params.user_id)
    },

    async updateUserStorage(call) {
      const { caller, params } = call
      await checkOwner(store, caller)
      const { id: userId, email: subject } = await store.users.get(params.user_id)
      const { max_bytes: maxBytes } = call.body()
      await store.userLimits.setMaxBytes(userId, maxBytes)
      storage.forget()
      const detail = { max_bytes: maxBytes ?? 'none', by_user: caller.userId }
      audit.write({ event: 'user.changed', userId, subject, context: call.context(), detail })
      return show(userId)
    },
  }
}
