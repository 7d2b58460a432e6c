// /v1/cameras/{camera_id}/guests/: the guests of a camera.

import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { Caller } from '../../auth/caller.ts'
import { AppError } from '../../base/error.ts'
import { getPage } from '../../model/page.ts'
import type { Permissions } from '../../store/guests.ts'
import type { Store } from '../../store/store.ts'
import { writeGuest } from '../answers/guest.ts'
import type { Handlers } from '../call.ts'
import { getOwnCamera } from '../own-camera.ts'
import { writeListing } from '../page-of.ts'

export type GuestHandlersOptions = {
  readonly store: Pick<Store, 'cameras' | 'guests'>
  readonly accounts: Pick<Accounts, 'guests'>
  readonly publicUrl: string
}

type Names = 'listGuests' | 'createGuest' | 'getGuest' | 'updateGuest' | 'deleteGuest'

export function createGuestHandlers({ store, accounts, publicUrl }: GuestHandlersOptions): Pick<Handlers, Names> {
  const { guests } = store

  /** Throws 'not_found'. */
  const getGuest = async ({ userId }: Caller, { camera_id, guest_id }: { camera_id: number; guest_id: number }) => {
    const camera = await getOwnCamera(store, userId, camera_id)
    const guest = await guests.find(camera.id, guest_id)
    if (!guest) throw new AppError('not_found', `camera ${camera.id} has no guest ${guest_id}`)
    return { camera, guest }
  }

  return {
    async listGuests(call) {
      const { id } = await getOwnCamera(store, call.caller.userId, call.params.camera_id)
      const page = getPage(call.query())
      const [count, rows] = await Promise.all([guests.countByCamera(id), guests.listByCamera(id, page)])
      return writeListing(call, `${publicUrl}/v1/cameras/${id}/guests/`, page, count, rows.map(writeGuest))
    },

    async createGuest(call) {
      const camera = await getOwnCamera(store, call.caller.userId, call.params.camera_id)
      const { email, permissions } = call.body()
      const context = call.context()
      return writeGuest(await accounts.guests.invite({ camera, email, ...readPermissions(permissions), context }))
    },

    getGuest: async ({ caller, params }) => writeGuest((await getGuest(caller, params)).guest),

    async updateGuest(call) {
      const found = await getGuest(call.caller, call.params)
      const change = readPermissions(call.body().permissions)
      return writeGuest(await accounts.guests.change({ ...found, change, context: call.context() }))
    },

    async deleteGuest(call) {
      const found = await getGuest(call.caller, call.params)
      await accounts.guests.remove({ ...found, context: call.context() })
      return null
    },
  }
}

/** Only the given fields. */
function readPermissions(given: { can_view_rec?: boolean; share_notifications?: boolean } = {}): Partial<Permissions> {
  const { can_view_rec: canViewRecordings, share_notifications: sharesNotifications } = given
  return {
    ...(canViewRecordings !== undefined && { canViewRecordings }),
    ...(sharesNotifications !== undefined && { sharesNotifications }),
  }
}
