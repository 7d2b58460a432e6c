// Converts errors from other parts of the server into errors that a form can show.

import { AppError } from '../../base/error.ts'
import type { AccountFault } from '../../model/account-fault.ts'
import type { FormProblem } from './fields.ts'
import type { Texts } from './texts/texts.ts'

export type Refusal = {
  readonly status: number
  readonly problem: FormProblem
  readonly retryAfterSeconds?: number | undefined
}

/** Rethrows errors that users cannot correct. */
export function toRefusal(error: unknown, texts: Texts): Refusal {
  if (!(error instanceof AppError)) throw error
  const { kind, retryAfterSeconds } = error
  const message = describeFault(error, texts)
  switch (kind) {
    case 'rate_limited':
      return { status: 429, retryAfterSeconds, problem: { notice: texts.problems.tooMany(retryAfterSeconds ?? 60) } }
    case 'unavailable':
      return { status: 503, retryAfterSeconds, problem: { notice: texts.problems.busy } }
    case 'invalid': {
      const fields = readFields(error, texts)
      return { status: 400, problem: Object.keys(fields).length > 0 ? { fields } : { notice: message } }
    }
    case 'conflict':
      return { status: 409, problem: { notice: message } }
    default:
      throw error
  }
}

/** Describes a fault in the language of the page, or with `own` if there is no translation. */
export function describeFault({ fault, message }: AppError, texts: Texts, own = message): string {
  return (texts.faults[fault as AccountFault] as string | undefined) ?? own
}

/** Converts the names of fields to snake case: `firstName` becomes `first_name`. */
function readFields(error: AppError, texts: Texts): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [name, reasons] of Object.entries(error.fields ?? {})) {
    const reason = Array.isArray(reasons) ? reasons[0] : undefined
    if (reason !== undefined)
      fields[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = describeFault(error, texts, reason)
  }
  return fields
}
