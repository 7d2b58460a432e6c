// An account.

import type { User } from '../../../contract/user.ts'
import type { User as UserRow } from '../../store/accounts/users.ts'

/** Number of cameras that the user owns, that are shared with the user, and that the user shares. */
export type CameraCounts = { readonly own: number; readonly shared: number; readonly withGuests: number }

export function writeUser(user: UserRow, cameras: CameraCounts): User {
  return {
    id: user.id,
    email: user.email,
    first_name: user.firstName,
    last_name: user.lastName,
    phone: user.phone,
    root_site: user.id,
    my_cameras_count: cameras.own,
    shared_cameras_count: cameras.shared,
    total_cameras_count: cameras.own + cameras.shared,
    cameras_with_guests_count: cameras.withGuests,
    require_qualification: false,
    available_features: { live_view: true, connect_camera: user.isOwner || user.mayAddCameras },
    is_owner: user.isOwner,
    outage_mails: user.getsOutageMails,
  }
}
