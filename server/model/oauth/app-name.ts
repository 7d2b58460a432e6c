// Valid application names. Users decide by this name whether to trust an application, so all of it must be visible. One
// rule for the API and the command line.

import { AppError } from '../../base/error.ts'
import { countCharacters } from '../text.ts'

const maxAppNameLength = 100

/** Returns the trimmed name. Throws 'invalid' with `fields.name`. */
export function parseAppName(text: string): string {
  const name = text.trim()
  if (countCharacters(name) > maxAppNameLength) {
    throw invalidName(`The name of an application may have no more than ${maxAppNameLength} characters.`)
  }
  if (/[\p{C}\u2028\u2029]/u.test(name)) {
    throw invalidName('The name of an application may hold no control or format characters.')
  }
  // Unicode counts fillers and blank patterns as letters and symbols, but people cannot see them.
  if (name.replaceAll(/[\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu, '') === '') {
    throw invalidName('The name of an application may not be blank.')
  }
  return name
}

function invalidName(reason: string): AppError {
  return new AppError('invalid', reason, { fields: { name: [reason] } })
}
