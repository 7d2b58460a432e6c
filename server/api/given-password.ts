// Operations that grant more than a token alone should be able to, because it may be stolen, require the caller's
// current password.

import type { Accounts } from '../auth/accounts/accounts.ts'
import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../auth/request-context.ts'
import { missingField } from './field-errors.ts'

export type PasswordCheck = {
  readonly caller: Caller
  /** The value as sent, and the name of its field. */
  readonly password: string | undefined
  readonly field: string
  readonly context: RequestContext
}

/**
 * The version of the caller's credentials that is proved. Throws 'invalid' naming the field when the password is
 * missing or wrong, and 'rate_limited' as a log-in does.
 */
export async function checkGivenPassword(
  accounts: Pick<Accounts, 'selfService'>,
  { caller, password, field, context }: PasswordCheck,
): Promise<number> {
  const { userId, credential, credentialsVersion } = caller
  if (caller.hasGivenPassword) return credentialsVersion
  if (password === undefined) throw missingField(field)
  // Of all tokens together: whoever holds one may make more, which must not be more guesses.
  const user = await accounts.selfService.provePassword({ userId, password, field, proof: credential.kind, context })
  return user.credentialsVersion
}
