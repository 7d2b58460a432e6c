// The errors of a request's fields as one line of text.

import { AppError, type FieldErrors } from '../base/error.ts'

/** "limit: A valid integer is required. permissions.can_view_rec: …"; errors about an object have only its path. */
export function writeFieldErrors(errors: FieldErrors): string {
  return describe(errors, '')
}

/** 'invalid': a field that is required by this request, but not by every one. */
export function missingField(name: string): AppError {
  const reason = 'This field is required.'
  return new AppError('invalid', `${name}: ${reason}`, { fields: { [name]: [reason] } })
}

function describe(errors: FieldErrors | readonly string[], path: string): string {
  if (Array.isArray(errors)) return `${path === '' ? '' : `${path}: `}${errors.join(' ')}`
  return Object.entries(errors)
    .map(([name, inner]) => describe(inner, name === 'non_field_errors' ? path : path ? `${path}.${name}` : name))
    .join(' ')
}
