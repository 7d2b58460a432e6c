// The parameters in a path. One that does not fit its schema names nothing that exists: 404, not 400.

import type { TSchema } from 'typebox'
import { AppError } from '../base/error.ts'

type PathSchema = { readonly properties?: { readonly [name: string]: { readonly type?: string } } }

export function readParams(schema: TSchema, given: { readonly [name: string]: string }): Record<string, unknown> {
  const params: Record<string, unknown> = {}
  for (const [name, property] of Object.entries((schema as PathSchema).properties ?? {})) {
    const text = given[name] ?? ''
    params[name] = property.type === 'integer' ? readInteger(text) : readText(text)
  }
  return params
}

function readInteger(text: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(value)) throw new AppError('not_found', 'the path must contain an integer')
  return value
}

/** No name holds NUL, which databases do not take. */
function readText(text: string): string {
  if (text.includes('\0')) throw new AppError('not_found', 'the path contains a NUL character')
  return text
}
