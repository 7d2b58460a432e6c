// Valid camera names: one rule for the API and the command line.

import { AppError } from '../base/error.ts'
import { countCharacters, hasHiddenCharacters } from './text.ts'

const maxCameraNameLength = 200

/** Returns the trimmed name. Throws 'invalid' with `fields.name`. */
export function parseCameraName(text: string): string {
  const name = text.trim()
  if (name === '') throw invalidName('The name of a camera may not be blank.')
  if (countCharacters(name) > maxCameraNameLength) {
    throw invalidName(`The name of a camera may have no more than ${maxCameraNameLength} characters.`)
  }
  if (hasHiddenCharacters(name) || !name.isWellFormed()) {
    throw invalidName('The name of a camera may hold no control characters and none that change the direction of text.')
  }
  return name
}

function invalidName(reason: string): AppError {
  return new AppError('invalid', reason, { fields: { name: [reason] } })
}
