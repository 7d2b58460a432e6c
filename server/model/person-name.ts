// First and last names: nearly anything, but on one line.

import { AppError } from '../base/error.ts'

export const maxNameLength = 150

/** Without surrounding spaces; may be empty. `field`: named by the error. Throws 'invalid'. */
export function parsePersonName(text: string, field: 'first_name' | 'last_name'): string {
  const name = text.trim()
  const fault =
    name.length > maxNameLength
      ? `Ensure this field has no more than ${maxNameLength} characters.`
      : /[\p{Cc}\u2028\u2029]/u.test(name) || !name.isWellFormed()
        ? 'A name has no control characters.'
        : undefined
  if (fault !== undefined) throw new AppError('invalid', fault, { fields: { [field]: [fault] } })
  return name
}
