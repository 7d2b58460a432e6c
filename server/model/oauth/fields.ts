// The parameters of a request to the authorization or token endpoint, by the rules of RFC 6749 section 3: those that are
// not known are ignored, the others may be sent once, and one without a value counts as not sent.

import { OAuthError } from './oauth-error.ts'

export type Fields = ReadonlyMap<string, string>

/** Parameters of the token endpoint and of revocation (RFC 7009). */
export const tokenParameters: ReadonlySet<string> = new Set([
  ...['grant_type', 'client_id', 'client_secret', 'username', 'password', 'scope', 'code', 'redirect_uri'],
  ...['code_verifier', 'refresh_token', 'token', 'token_type_hint'],
])

/** Throws 'invalid_request'. Others than `known` may be sent several times, such as `resource` (RFC 8707). */
export function readFields(entries: Iterable<readonly [name: string, value: string]>, known = tokenParameters): Fields {
  const { fields, faults } = sortFields(entries, known)
  for (const fault of faults.values()) throw fault
  return fields
}

/** `faults`: what is wrong with which parameters. */
export function sortFields(
  entries: Iterable<readonly [name: string, value: string]>,
  known: ReadonlySet<string>,
): { readonly fields: Fields; readonly faults: ReadonlyMap<string, OAuthError> } {
  const seen = new Set<string>()
  const fields = new Map<string, string>()
  const faults = new Map<string, OAuthError>()
  for (const [name, value] of entries) {
    if (!known.has(name)) continue
    if (seen.has(name)) faults.set(name, new OAuthError('invalid_request', `Duplicate ${name} parameter.`))
    seen.add(name)
    // No parameter needs it, and databases cannot store it.
    if (value.includes('\0'))
      faults.set(name, new OAuthError('invalid_request', `The ${name} parameter contains a null character.`))
    if (value !== '') fields.set(name, value)
  }
  return { fields, faults }
}
