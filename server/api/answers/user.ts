// An account as clients see it.

import type { User } from '../../../contract/user.ts'
import type { User as UserRow } from '../../store/users.ts'

export function writeUser(user: UserRow, ownCameras: number): User {
  const sharedCameras = 0 // sharing is not built yet
  return {
    id: user.id,
    email: user.email,
    first_name: user.firstName,
    last_name: user.lastName,
    phone: user.phone,
    root_site: user.id,
    my_cameras_count: ownCameras,
    shared_cameras_count: sharedCameras,
    total_cameras_count: ownCameras + sharedCameras,
    cameras_with_guests_count: 0,
    require_qualification: false,
    available_features: { live_view: true, connect_camera: true },
  }
}
