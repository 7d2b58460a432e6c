// A form on a card. It is submitted by its button or Enter, and cannot be submitted twice at the same time.

import { type ReactNode, useEffect, useRef } from 'react'
import { Button } from './button.tsx'
import { Failure } from './failure.tsx'
import type { FormName } from './failure-messages.ts'
import { useFieldProblems } from './field-problems.tsx'
import { Notice } from './notice.tsx'

export type FormProps = {
  readonly title?: string
  /** Label of the submit button. */
  readonly action: string
  readonly sending: {
    readonly mutate: () => void
    readonly isPending: boolean
    /** Changes with each submission. */
    readonly submittedAt: number
    readonly error: unknown
    readonly isSuccess?: boolean
  }
  /** Names of the fields inside, which show their own errors. All other errors appear above the button. */
  readonly fields?: readonly string[]
  readonly form?: FormName
  readonly isDisabled?: boolean
  /** Shown on success. */
  readonly done?: string | undefined
  /** Shown beside the button. */
  readonly aside?: ReactNode
  readonly children: ReactNode
}

export function Form({
  title,
  action,
  sending,
  fields = [],
  form,
  isDisabled = false,
  done,
  aside,
  children,
}: FormProps) {
  const problems = Object.keys(useFieldProblems(sending.error))
  const isSent = useRef(false)
  useEffect(() => {
    if (!sending.isPending) isSent.current = false
  }, [sending.isPending, sending.submittedAt])
  const isSaidInside = problems.length > 0 && problems.every((name) => fields.includes(name))
  return (
    <form
      className="panel form"
      onSubmit={(event) => {
        event.preventDefault()
        // The second click of a double click arrives before the button is rendered as disabled.
        if (sending.isPending || isDisabled || isSent.current) return
        isSent.current = true
        sending.mutate()
      }}
    >
      {title && <h2>{title}</h2>}
      {children}
      {Boolean(sending.error) && !isSaidInside && <Failure error={sending.error} form={form} />}
      {done && sending.isSuccess && (
        <Notice kind="good">
          <p>{done}</p>
        </Notice>
      )}
      <div className="form-end">
        <Button type="submit" isBusy={sending.isPending} disabled={isDisabled}>
          {action}
        </Button>
        {aside}
      </div>
    </form>
  )
}
