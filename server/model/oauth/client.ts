// Whether an application may ask for what it asks for, before anything is looked up that it names.

import { OAuthError } from './oauth-error.ts'
import type { GrantType } from './token-request.ts'

export type ClientRules = {
  readonly isConfidential: boolean
  readonly requiresSecret: boolean
  readonly allowsPassword: boolean
}

/** What the request proved: no secret sent, the right one, a wrong one. */
export type ClientProof = 'none' | 'right' | 'wrong'

/**
 * Throws 'invalid_client' and 'unauthorized_client'. A code is only exchanged with the secret, if there is one: it came
 * through a browser. Passwords and refresh tokens are secrets themselves, so for them it is up to the application's
 * owner.
 */
export function checkClient(
  client: ClientRules | undefined,
  proof: ClientProof,
  use: GrantType | 'revoke',
): asserts client {
  if (!client || proof === 'wrong') throw new OAuthError('invalid_client')
  const isSecretNeeded = client.isConfidential && (client.requiresSecret || use === 'authorization_code')
  if (isSecretNeeded && proof !== 'right') throw new OAuthError('invalid_client')
  if (use === 'password' && !client.allowsPassword) throw new OAuthError('unauthorized_client')
}
