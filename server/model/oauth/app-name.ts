// What an application may be called. People are asked to trust it by this name, so that it must be seen whole: the one
// rule of the API and the command line.

import { AppError } from '../../base/error.ts'
import { countCharacters } from '../text.ts'

const maxAppNameLength = 100

/** The name without white space around it. Throws 'invalid' with `fields.name`. */
export function parseAppName(text: string): string {
  const name = text.trim()
  if (countCharacters(name) > maxAppNameLength) {
    throw invalidName(`The name of an application may have no more than ${maxAppNameLength} characters.`)
  }
  if (/[\p{C}\u2028\u2029]/u.test(name)) {
    throw invalidName('The name of an application may hold no control or format characters.')
  }
  // Fillers and blank patterns are letters and symbols to Unicode, and nothing to people.
  if (name.replaceAll(/[\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu, '') === '') {
    throw invalidName('The name of an application may not be blank.')
  }
  return name
}

function invalidName(reason: string): AppError {
  return new AppError('invalid', reason, { fields: { name: [reason] } })
}
