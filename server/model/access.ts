// Scopes: what a credential may be used for. Who may see which camera is decided elsewhere.
//
// `user_access` covers everything about cameras; `read` covers all reading operations, `read` and `write` together all
// operations; the other scopes cover just what they name. `account_manage` is separate: it allows managing credentials,
// so no other scope includes it, neither for applications nor for personal tokens.

import { AppError } from '../base/error.ts'

const readingScopes = ['camera_access', 'camera_guest_access', 'recording_access', 'event_access'] as const

const changingScopes = [
  'camera_create',
  'camera_manage',
  'camera_delete',
  'camera_guest_manage',
  'recording_manage',
  'recording_start_stop',
  'event_manage',
] as const

const wideScopes = ['user_access', 'read', 'write'] as const

/** Credentials and accounts. Never covered by another scope, and never granted unless requested. */
export const accountScope = 'account_manage'

export type Scope =
  | (typeof wideScopes)[number]
  | (typeof readingScopes)[number]
  | (typeof changingScopes)[number]
  | typeof accountScope

/** All scopes, the widest first. */
export const allScopes: readonly Scope[] = [...wideScopes, ...readingScopes, ...changingScopes, accountScope]

/** The scope of a personal token if none is given. */
export const defaultScopes: readonly Scope[] = ['user_access']

/**
 * "read  write" -> ['read', 'write'], each once, in the order given. Throws 'invalid' on an empty list or an unknown
 * name.
 */
export function parseScopes(text: string): Scope[] {
  const names = [...new Set(text.split(' ').filter((name) => name !== ''))]
  if (names.length === 0) throw invalidScope('At least one scope is required.')
  for (const name of names) {
    if (!(allScopes as readonly string[]).includes(name)) {
      throw invalidScope(`"${name}" is not a scope. Scopes are: ${allScopes.join(' ')}.`)
    }
  }
  return names as Scope[]
}

/**
 * All scopes covered by the given ones, including themselves. Computed once per credential, so that a check is one
 * lookup.
 */
export function expandScopes(scopes: Iterable<string>): ReadonlySet<string> {
  const given = new Set(scopes)
  const isAll = given.has('user_access')
  const canRead = isAll || given.has('read')
  const canWrite = isAll || (given.has('read') && given.has('write'))
  const covered = new Set(given)
  if (canRead) for (const scope of ['read', ...readingScopes]) covered.add(scope)
  if (canWrite) for (const scope of ['write', ...changingScopes]) covered.add(scope)
  else covered.delete('write') // alone it covers nothing
  return covered
}

/** The scopes that an operation requires: every scope in `all`, or the one fine-grained scope in `or`. */
export type RequiredAccess = { readonly all: readonly string[]; readonly or?: string }

/** True if expanded scopes (`expandScopes`) cover what is required. */
export function covers(expanded: ReadonlySet<string>, { all, or }: RequiredAccess): boolean {
  return (or !== undefined && expanded.has(or)) || all.every((scope) => expanded.has(scope))
}

function invalidScope(reason: string): AppError {
  return new AppError('invalid', reason, { fields: { scope: [reason] } })
}
