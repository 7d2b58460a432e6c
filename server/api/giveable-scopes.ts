// A credential that is created with another one can have only the scopes of that one.

import type { Caller } from '../auth/caller.ts'
import { AppError } from '../base/error.ts'
import { expandScopes } from '../model/access.ts'

/** Throws 'invalid' naming `scope`. */
export function checkGiveable(scopes: readonly string[], { scopes: own }: Pick<Caller, 'scopes'>): void {
  const isAll = own.has('read') && own.has('write')
  // `user_access` is an alias of both.
  const excess = [...expandScopes(scopes)].filter((scope) => !own.has(scope) && !(scope === 'user_access' && isAll))
  if (excess.length === 0) return
  const reason = `These scopes are beyond those of the request: ${excess.join(' ')}.`
  throw new AppError('invalid', reason, { fields: { scope: [reason] } })
}
