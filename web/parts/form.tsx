// A form on a card: sent by its button or Enter, and not a second time while the first is on its way.

import { type ReactNode, useEffect, useRef } from 'react'
import { Button } from './button.tsx'
import { Failure } from './failure.tsx'
import type { FormName } from './failure-words.ts'
import { useFieldProblems } from './field-problems.tsx'
import { Notice } from './notice.tsx'

export type FormProps = {
  readonly title?: string
  /** What the button says. */
  readonly action: string
  readonly sending: {
    readonly mutate: () => void
    readonly isPending: boolean
    /** Another at each sending. */
    readonly submittedAt: number
    readonly error: unknown
    readonly isSuccess?: boolean
  }
  /** Of the fields inside: what is wrong with these is said there. Anything else is said above the button. */
  readonly fields?: readonly string[]
  readonly form?: FormName
  readonly isDisabled?: boolean
  /** Said when it is done. */
  readonly done?: string | undefined
  /** Beside the button. */
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
        // The second click of two comes before the button is drawn as pressed.
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
