// Shown before the dashboard: a loading message, or the error that prevented the start.

import { NightjarError } from '../../sdk/index.ts'
import { Button } from '../parts/button.tsx'
import { ErrorText } from '../parts/error-text.tsx'
import { describeFailure } from '../parts/failure-messages.ts'
import { useTexts } from '../texts/texts.tsx'

export function Splash({ failure, onAgain }: { readonly failure: unknown; readonly onAgain: () => void }) {
  const { splash, failures } = useTexts()
  if (failure === undefined) {
    return (
      <main className="splash" aria-busy="true">
        <p>{splash.opening}</p>
      </main>
    )
  }
  // Errors thrown by the browser itself are failed connections.
  const isRefused = failure instanceof NightjarError && !['network_error', 'timeout'].includes(failure.title)
  return (
    <main className="splash">
      <h1>{isRefused ? splash.refused : splash.unreachable}</h1>
      <p>
        <ErrorText message={isRefused ? describeFailure(failure, failures) : { text: splash.unreachableAdvice }} />
      </p>
      <Button onClick={onAgain}>{splash.again}</Button>
    </main>
  )
}
