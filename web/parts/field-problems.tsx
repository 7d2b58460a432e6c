// Errors of the fields of a refused form, for the `problem` property of each field.

import type { ReactNode } from 'react'
import { useTexts } from '../texts/texts.tsx'
import { ErrorText } from './error-text.tsx'
import { describeFields, type FormName } from './failure-messages.ts'

export type FieldProblems = Readonly<Record<string, ReactNode>>

export function useFieldProblems(error: unknown, form?: FormName): FieldProblems {
  const { failures } = useTexts()
  const fields = Object.entries(describeFields(error, failures, form))
  return Object.fromEntries(fields.map(([name, message]) => [name, <ErrorText key={name} message={message} />]))
}
