// Before anything can be shown: waiting for the server, or what went wrong on the way.

import { NightjarError } from '../../sdk/index.ts'
import { Button } from '../parts/button.tsx'
import { useTexts } from '../texts/texts.tsx'

export function Splash({ failure, onAgain }: { readonly failure: unknown; readonly onAgain: () => void }) {
  const { splash } = useTexts()
  if (failure === undefined) {
    return (
      <main className="splash" aria-busy="true">
        <p>{splash.opening}</p>
      </main>
    )
  }
  const isLost = failure instanceof NightjarError ? failure.status === 0 && failure.title !== 'sign_in_failed' : true
  return (
    <main className="splash">
      <h1>{isLost ? splash.unreachable : splash.refused}</h1>
      <p>{isLost ? splash.unreachableAdvice : failure instanceof Error && failure.message}</p>
      <Button onClick={onAgain}>{splash.again}</Button>
    </main>
  )
}
