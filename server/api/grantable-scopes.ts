// A credential that is created with another one can have only the scopes of that one.

import type { Caller } from '../auth/caller.ts'
import { AppError } from '../base/error.ts'
import { expandScopes } from '../model/access.ts'

/** Throws 'invalid' for the field `scope`. */
export function checkGrantable(scopes: readonly string[], { scopes: own }: Pick<Caller, 'scopes'>): void {
  const isAll = own.has('read') && own.has('write')
  // `user_access` is an alias of both.
  const excess = [...expandScopes(scopes)].filter((scope) => !own.has(scope) && !(scope === 'user_access' && isAll))
  if (excess.length === 0) return
  const reason = `The credentials of this request do not have these scopes: ${excess.join(' ')}.`
  throw new AppError('invalid', reason, { fields: { scope: [reason] } })
}
