// A labelled input with a hint and, after an attempt, its error.

import { type ComponentProps, type ReactNode, useId } from 'react'

export type FieldProps = Omit<ComponentProps<'input'>, 'id' | 'className'> & {
  readonly label: string
  readonly hint?: string | undefined
  readonly problem?: ReactNode
}

export function Field({ label, hint, problem, ...input }: FieldProps) {
  const id = useId()
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem && (
        <p className="error" id={`${id}-problem`}>
          {problem}
        </p>
      )}
      <input {...input} id={id} aria-describedby={described || undefined} aria-invalid={problem ? true : undefined} />
    </div>
  )
}
