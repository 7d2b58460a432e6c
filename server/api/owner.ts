// Owners of the server, who manage it and its users.

import type { Caller } from '../auth/caller.ts'
import { AppError } from '../base/error.ts'
import type { Store } from '../store/store.ts'
import { HttpError } from './problem.ts'

/**
 * Throws 'forbidden', also if owners need a second factor and this one has none. Credentials that were issued before
 * the requirement, or before the user became an owner, stay valid, but do not permit the management of the server.
 */
export async function checkOwner(
  { users, settings }: Pick<Store, 'users' | 'settings'>,
  { userId }: Caller,
): Promise<void> {
  const user = await users.find(userId)
  if (!user?.isOwner) throw new AppError('forbidden', 'only owners manage the server and its users')
  if (!user.hasSecondFactor && (await settings.isSecondFactorRequired())) {
    const detail = 'Owners of this server need a second factor: sign in with a browser to set one up.'
    throw new HttpError(403, 'permission_denied', detail)
  }
}
