// Shows what a failed request means for the user.

import { useTexts } from '../texts/texts.tsx'
import { Button } from './button.tsx'
import { ErrorText } from './error-text.tsx'
import { describeFailure, type FormName } from './failure-messages.ts'
import { Notice } from './notice.tsx'

export type FailureProps = {
  readonly error: unknown
  readonly form?: FormName | undefined
  readonly onAgain?: (() => void) | undefined
}

export function Failure({ error, form, onAgain }: FailureProps) {
  const { failures, again } = useTexts()
  return (
    <Notice kind="bad">
      <p>
        <ErrorText message={describeFailure(error, failures, form)} />
      </p>
      {onAgain && (
        <Button look="quiet" onClick={onAgain}>
          {again}
        </Button>
      )}
    </Notice>
  )
}
