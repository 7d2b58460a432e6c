// Which scopes a login gets: those asked for, never more than allowed (RFC 6749 section 3.3).

import { accountScope, allScopes, expandScopes, type Scope } from '../access.ts'
import { OAuthError } from './oauth-error.ts'

/** What an application gets that names no scope, as far as it is allowed. */
const defaultScopes = ['read', 'write'] as const

/**
 * In the order asked for, each once; all of `allowed` that is usual when nothing is named, which accounts never are.
 * Throws 'invalid_scope'.
 */
export function chooseScopes(text: string | undefined, allowed: readonly string[]): readonly string[] {
  const requested = readScopes(text)
  if (requested) return checkAllowed(requested, allowed)
  const usual = defaultScopes.filter((scope) => isAllowed(scope, allowed))
  if (usual.length > 0) return usual
  const others = allowed.filter((scope) => scope !== accountScope)
  if (others.length === 0) throw new OAuthError('invalid_scope')
  return others
}

/** For a refresh: all that was granted, or less (RFC 6749 section 6). Throws 'invalid_scope'. */
export function narrowScopes(text: string | undefined, granted: readonly string[]): readonly string[] {
  const requested = readScopes(text)
  return requested ? checkAllowed(requested, granted) : granted
}

function readScopes(text: string | undefined): readonly Scope[] | undefined {
  const names = [...new Set((text ?? '').split(' ').filter((name) => name !== ''))]
  if (names.length === 0) return undefined
  if (!names.every((name) => (allScopes as readonly string[]).includes(name))) throw new OAuthError('invalid_scope')
  return names as Scope[]
}

function checkAllowed(requested: readonly string[], allowed: readonly string[]): readonly string[] {
  if (!requested.every((scope) => isAllowed(scope, allowed))) throw new OAuthError('invalid_scope')
  return requested
}

/** Named, or covered by what is named: `user_access` is another word for `read write`. */
function isAllowed(scope: string, allowed: readonly string[]): boolean {
  if (allowed.includes(scope)) return true
  const covered = expandScopes(allowed)
  return scope === 'user_access' ? covered.has('read') && covered.has('write') : covered.has(scope)
}
