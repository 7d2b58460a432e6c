// Owners of the server, who manage it and its users.

import type { Caller } from '../auth/caller.ts'
import { AppError } from '../base/error.ts'
import type { Store } from '../store/store.ts'

/** Throws 'forbidden'. */
export async function checkOwner({ users }: Pick<Store, 'users'>, { userId }: Caller): Promise<void> {
  if (!(await users.find(userId))?.isOwner)
    throw new AppError('forbidden', 'only owners manage the server and its users')
}
