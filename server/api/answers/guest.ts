// A guest as the camera's owner sees it. Whether there is an account behind the address is not told, see store/guests.ts.

import type { Guest } from '../../../contract/guest.ts'
import type { Guest as GuestRow } from '../../store/guests.ts'

export function writeGuest(guest: GuestRow): Guest {
  return {
    id: guest.id,
    email: guest.email,
    first_name: guest.firstName,
    last_name: guest.lastName,
    permissions: { can_view_rec: guest.canViewRecordings, share_notifications: guest.sharesNotifications },
  }
}
