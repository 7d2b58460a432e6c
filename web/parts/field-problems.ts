// What the server says of the fields of a form it refused.

import { NightjarError } from '../../sdk/index.ts'

/** The first reason per field; nothing for other failures. */
export function readFieldProblems(error: unknown): Readonly<Record<string, string | undefined>> {
  if (!(error instanceof NightjarError) || error.status !== 400) return {}
  const fields = Object.entries(Object(error.errors) as Record<string, unknown>)
  return Object.fromEntries(fields.map(([name, reasons]) => [name, findText(reasons)]))
}

function findText(reasons: unknown): string | undefined {
  if (typeof reasons === 'string') return reasons
  if (typeof reasons !== 'object' || reasons === null) return undefined
  return Object.values(reasons)
    .map(findText)
    .find((text) => text !== undefined)
}
