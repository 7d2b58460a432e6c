// Requires the current password for operations that grant more than a token alone should, because a token may be
// stolen.

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
 * Returns the verified version of the caller's credentials. Throws 'invalid' naming the field if the password is
 * missing or wrong, and 'rate_limited' like a sign-in.
 */
export async function checkGivenPassword(
  accounts: Pick<Accounts, 'selfService'>,
  { caller, password, field, context }: PasswordCheck,
): Promise<number> {
  const { userId, credential, credentialsVersion } = caller
  if (caller.hasGivenPassword) return credentialsVersion
  if (password === undefined) throw missingField(field)
  // Attempts are counted for all tokens together. Otherwise a token could be used to create more tokens and guess more.
  const user = await accounts.selfService.provePassword({ userId, password, field, proof: credential.kind, context })
  return user.credentialsVersion
}
