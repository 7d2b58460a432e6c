// A guest, for the camera's owner. Whether the guest has an account is not revealed, see store/guests.ts.

import type { Guest } from '../../../contract/guest.ts'
import type { Guest as GuestRow } from '../../store/cameras/guests.ts'

export function writeGuest(guest: GuestRow): Guest {
  return {
    id: guest.id,
    email: guest.email,
    first_name: guest.firstName,
    last_name: guest.lastName,
    permissions: { can_view_rec: guest.canViewRecordings, share_notifications: guest.sharesNotifications },
  }
}
