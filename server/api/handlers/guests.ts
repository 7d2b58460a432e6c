// /v1/cameras/{camera_id}/guests/: the guests of a camera.

import type { Endpoints } from '../../../contract/endpoints.ts'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import { AppError } from '../../base/error.ts'
import { getPage } from '../../model/page.ts'
import type { Permissions } from '../../store/cameras/guests.ts'
import type { Store } from '../../store/store.ts'
import { writeGuest } from '../answers/guest.ts'
import type { Call, Handlers } from '../call.ts'
import { checkOwner } from '../owner.ts'
import { writeListing } from '../page-of.ts'

export type GuestHandlersOptions = {
  readonly store: Pick<Store, 'guests' | 'users' | 'settings'>
  readonly accounts: Pick<Accounts, 'guests'>
  readonly publicUrl: string
}

type Names = 'listGuests' | 'createGuest' | 'getGuest' | 'updateGuest' | 'deleteGuest' | 'createGuestLink'

export function createGuestHandlers({ store, accounts, publicUrl }: GuestHandlersOptions): Pick<Handlers, Names> {
  const { guests } = store

  /** Throws 'not_found'. */
  const getGuest = async ({
    camera,
    params: { guest_id: id },
  }: Pick<Call<Endpoints['getGuest']>, 'camera' | 'params'>) => {
    const guest = await guests.find(camera.id, id)
    if (!guest) throw new AppError('not_found', `camera ${camera.id} has no guest ${id}`)
    return { camera, guest }
  }

  return {
    async listGuests(call) {
      const { id } = call.camera
      const page = getPage(call.query())
      const [count, rows] = await Promise.all([guests.countByCamera(id), guests.listByCamera(id, page)])
      return writeListing(call, `${publicUrl}/v1/cameras/${id}/guests/`, page, count, rows.map(writeGuest))
    },

    async createGuest(call) {
      const { camera } = call
      const { email, permissions } = call.body()
      const context = call.context()
      return writeGuest(await accounts.guests.invite({ camera, email, ...readPermissions(permissions), context }))
    },

    getGuest: async (call) => writeGuest((await getGuest(call)).guest),

    async updateGuest(call) {
      const found = await getGuest(call)
      const change = readPermissions(call.body().permissions)
      return writeGuest(await accounts.guests.change({ ...found, change, context: call.context() }))
    },

    async deleteGuest(call) {
      const found = await getGuest(call)
      await accounts.guests.remove({ ...found, context: call.context() })
      return null
    },

    async createGuestLink(call) {
      // The link opens an account under the address of the guest, which nobody else may decide about.
      await checkOwner(store, call.caller)
      const found = await getGuest(call)
      return { link: await accounts.guests.createLink({ ...found, context: call.context() }) }
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
