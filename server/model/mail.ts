// An email to one person.

import { AppError } from '../base/error.ts'
import { parseEmail } from './email.ts'

export type Mail = {
  /** A plain address. */
  readonly to: string
  readonly subject: string
  /** Plain text; lines end in `\n`. */
  readonly text: string
  readonly html?: string
  /** After this time, nothing in it works any more. Default: a week. */
  readonly usefulMs?: number
}

/** Throws 'invalid' for anything that could add a header or a second recipient (CWE-93). */
export function checkMail({ to, subject }: Mail): void {
  if (parseEmail(to) !== to) throw new AppError('invalid', 'the email address has surrounding spaces')
  if (/\p{Cc}/u.test(subject)) throw new AppError('invalid', 'the subject of the email contains control characters')
}
