// What is wrong with the fields of a form the server refused, for the `problem` of each.

import type { ReactNode } from 'react'
import { useTexts } from '../texts/texts.tsx'
import { describeFields, type FormName } from './failure-words.ts'
import { Fault } from './fault.tsx'

export type FieldProblems = Readonly<Record<string, ReactNode>>

export function useFieldProblems(error: unknown, form?: FormName): FieldProblems {
  const { failures } = useTexts()
  const fields = Object.entries(describeFields(error, failures, form))
  return Object.fromEntries(fields.map(([name, told]) => [name, <Fault key={name} told={told} />]))
}
