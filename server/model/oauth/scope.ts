// Which scopes a grant gets: those requested, never more than allowed (RFC 6749 section 3.3).

import { accountScope, allScopes, expandScopes, type Scope } from '../access.ts'
import { OAuthError } from './oauth-error.ts'

/** The default scopes of an application that requests none, as far as they are allowed. */
const defaultScopes = ['read', 'write'] as const

/**
 * In the requested order without duplicates. If none is requested, the usual ones in `allowed`, which never include
 * accounts. Throws 'invalid_scope'.
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

/** For a refresh: everything that was granted, or less (RFC 6749 section 6). Throws 'invalid_scope'. */
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

/** Requested, or covered by what is requested: `user_access` is an alias of `read write`. */
function isAllowed(scope: string, allowed: readonly string[]): boolean {
  if (allowed.includes(scope)) return true
  const covered = expandScopes(allowed)
  return scope === 'user_access' ? covered.has('read') && covered.has('write') : covered.has(scope)
}
