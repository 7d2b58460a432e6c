// Options whose value is yes or no, where leaving the option out means something else than either.

import { AppError } from '../base/error.ts'

/** Undefined when it was not given. Throws 'invalid'. */
export function readChoice(name: string, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (text !== 'yes' && text !== 'no') throw new AppError('invalid', `--${name}: expected yes or no, got "${text}"`)
  return text === 'yes'
}
