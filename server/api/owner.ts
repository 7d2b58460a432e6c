// Owners of the server, who manage it and its users.

import type { Caller } from '../auth/caller.ts'
import { AppError } from '../base/error.ts'
import type { Store } from '../store/store.ts'
import { HttpError } from './problem.ts'

/**
 * Throws 'forbidden', also where owners need a second factor and this one has none: what was signed in with the
 * password alone before owners needed one, or before its user became an owner, goes on, but manages nothing of others.
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
