// Options with the value yes or no, which differ from leaving the option out.

import { AppError } from '../base/error.ts'

/** Returns undefined when the option was not given. Throws 'invalid'. */
export function readChoice(name: string, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (text !== 'yes' && text !== 'no') throw new AppError('invalid', `--${name}: expected yes or no, got "${text}"`)
  return text === 'yes'
}
