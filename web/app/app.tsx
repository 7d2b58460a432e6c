// The root component: wraps the views in sign-in, data, language and frame.

import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { TextsProvider } from '../texts/texts.tsx'
import { type Booted, boot } from './boot.ts'
import { ClientsProvider } from './clients.tsx'
import { Frame } from './frame.tsx'
import { queryClient } from './queries.ts'
import { Routes } from './routes.tsx'
import type { SignIn } from './sign-in.ts'
import { Splash } from './splash.tsx'

export function App({ signIn }: { readonly signIn: SignIn }) {
  const [booted, setBooted] = useState<Booted>()
  const [failure, setFailure] = useState<unknown>()
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    let isLeft = false
    boot(signIn, location, history).then(
      (done) => isLeft || setBooted(done),
      (error) => isLeft || setFailure(error),
    )
    return () => {
      isLeft = true
    }
  }, [signIn, attempt])
  const again = () => {
    setFailure(undefined)
    setAttempt(attempt + 1)
  }
  return (
    <TextsProvider>
      {booted ? (
        <QueryClientProvider client={queryClient}>
          <ClientsProvider booted={booted} signIn={signIn}>
            <Frame>
              <Routes />
            </Frame>
          </ClientsProvider>
        </QueryClientProvider>
      ) : (
        <Splash failure={failure} onAgain={again} />
      )}
    </TextsProvider>
  )
}
