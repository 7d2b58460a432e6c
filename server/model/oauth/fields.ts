// The parameters of a request to the authorization or token endpoint, by the rules of RFC 6749 section 3: no
// duplicates, and a parameter without a value counts as not sent.

import { OAuthError } from './oauth-error.ts'

export type Fields = ReadonlyMap<string, string>

/** Throws 'invalid_request'. */
export function readFields(entries: Iterable<readonly [name: string, value: string]>): Fields {
  const seen = new Set<string>()
  const fields = new Map<string, string>()
  for (const [name, value] of entries) {
    if (seen.has(name))
      throw new OAuthError('invalid_request', `Duplicate ${/^\w{1,40}$/.test(name) ? name : 'request'} parameter.`)
    seen.add(name)
    // No parameter needs it, and databases cannot store it.
    if (value.includes('\0')) throw new OAuthError('invalid_request', 'A parameter contains a null character.')
    if (value !== '') fields.set(name, value)
  }
  return fields
}
