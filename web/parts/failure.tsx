// What a failed request means for the person in front of the page.

import { NightjarError } from '../../sdk/index.ts'
import { useTexts } from '../texts/texts.tsx'
import { Button } from './button.tsx'
import { Notice } from './notice.tsx'

export type FailureProps = { readonly error: unknown; readonly onAgain?: (() => void) | undefined }

export function Failure({ error, onAgain }: FailureProps) {
  const { failures, again } = useTexts()
  return (
    <Notice kind="bad">
      <p>{describeFailure(error, failures)}</p>
      {onAgain && (
        <Button look="quiet" onClick={onAgain}>
          {again}
        </Button>
      )}
    </Notice>
  )
}

/** One sentence or two, with what to do. */
export function describeFailure(error: unknown, texts: ReturnType<typeof useTexts>['failures']): string {
  if (!(error instanceof NightjarError)) return texts.unknown
  switch (error.title) {
    case 'network_error':
    case 'timeout':
      return texts.unreachable
    case 'permission_denied':
      return texts.forbidden
    case 'not_found':
      return texts.missing
    case 'rate_limited':
      return texts.tooMany(error.retryAfterSeconds)
    case 'unavailable':
      return texts.busy
    default:
      return error.detail === '' ? texts.unknown : error.detail
  }
}
