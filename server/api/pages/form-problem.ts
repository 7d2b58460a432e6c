// What the other parts of the server refuse, as something a form can show.

import { AppError } from '../../base/error.ts'
import type { FormProblem } from './fields.ts'
import type { Texts } from './texts/texts.ts'

export type Refusal = {
  readonly status: number
  readonly problem: FormProblem
  readonly retryAfterSeconds?: number | undefined
}

/** Throws what is not for the user to put right. */
export function toRefusal(error: unknown, texts: Texts): Refusal {
  if (!(error instanceof AppError)) throw error
  const { kind, message, retryAfterSeconds } = error
  switch (kind) {
    case 'rate_limited':
      return { status: 429, retryAfterSeconds, problem: { notice: texts.problems.tooMany(retryAfterSeconds ?? 60) } }
    case 'unavailable':
      return { status: 503, retryAfterSeconds, problem: { notice: texts.problems.busy } }
    case 'invalid': {
      const fields = readFields(error)
      return { status: 400, problem: Object.keys(fields).length > 0 ? { fields } : { notice: message } }
    }
    case 'conflict':
      return { status: 409, problem: { notice: message } }
    default:
      throw error
  }
}

/** `first_name` and `firstName` are one field. */
function readFields(error: AppError): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [name, reasons] of Object.entries(error.fields ?? {})) {
    const reason = Array.isArray(reasons) ? reasons[0] : undefined
    if (reason !== undefined) fields[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = reason
  }
  return fields
}
