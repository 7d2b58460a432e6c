// Decides whether an application may make a request, before anything the request refers to is looked up.

import { OAuthError } from './oauth-error.ts'
import type { GrantType } from './token-request.ts'

export type ClientRules = {
  readonly isConfidential: boolean
  readonly requiresSecret: boolean
  readonly allowsPassword: boolean
}

/** What the request proved: no secret sent, the right one, or a wrong one. */
export type ClientProof = 'none' | 'right' | 'wrong'

/**
 * Throws 'invalid_client' and 'unauthorized_client'. Exchanging a code requires the secret, if there is one, because
 * the code went through a browser. Passwords and refresh tokens are secrets themselves, so the application's owner
 * decides.
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
