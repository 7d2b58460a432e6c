// First and last names: nearly anything, but on one line.

import { invalidAccount, maxPersonNameLength } from './account-fault.ts'

/** Without surrounding spaces; may be empty. `field`: named by the error. Throws 'invalid'. */
export function parsePersonName(text: string, field: 'first_name' | 'last_name'): string {
  const name = text.trim()
  const fault =
    name.length > maxPersonNameLength
      ? 'name_length'
      : /[\p{Cc}\u2028\u2029]/u.test(name) || !name.isWellFormed()
        ? 'name_characters'
        : undefined
  if (fault !== undefined) throw invalidAccount(fault, field)
  return name
}
