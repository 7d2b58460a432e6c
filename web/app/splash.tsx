// Before anything can be shown: waiting for the server, or what went wrong on the way.

import { NightjarError } from '../../sdk/index.ts'
import { Button } from '../parts/button.tsx'
import { describeFailure } from '../parts/failure-words.ts'
import { Fault } from '../parts/fault.tsx'
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
  // What a browser throws itself is a connection that failed.
  const isRefused = failure instanceof NightjarError && !['network_error', 'timeout'].includes(failure.title)
  return (
    <main className="splash">
      <h1>{isRefused ? splash.refused : splash.unreachable}</h1>
      <p>
        <Fault told={isRefused ? describeFailure(failure, failures) : { text: splash.unreachableAdvice }} />
      </p>
      <Button onClick={onAgain}>{splash.again}</Button>
    </main>
  )
}
