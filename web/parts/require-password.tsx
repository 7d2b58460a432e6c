// Wraps views that create or revoke credentials: asks for the password first, which then counts for a few minutes.

import { type ReactNode, useEffect, useState } from 'react'
import type { Client } from '../../sdk/index.ts'
import { useAccountClient } from '../app/clients.tsx'
import { useTexts } from '../texts/texts.tsx'
import { Button } from './button.tsx'
import { Failure } from './failure.tsx'

/** `children` receives a client that is allowed to do it. */
export function RequirePassword({ children }: { readonly children: (client: Client) => ReactNode }) {
  const { accountClient, openAccount, reopenAccount } = useAccountClient()
  const { account } = useTexts()
  const [failure, setFailure] = useState<unknown>()
  const [isOpening, setOpening] = useState(true)
  useEffect(() => {
    reopenAccount()
      .catch(() => {}) // the button says why
      .finally(() => setOpening(false))
  }, [reopenAccount])
  if (accountClient) return children(accountClient)
  const open = () => {
    setOpening(true)
    setFailure(undefined)
    openAccount().catch((error) => {
      setOpening(false)
      setFailure(error)
    })
  }
  return (
    <div className="password-prompt">
      <p>{account.why}</p>
      {failure !== undefined && <Failure error={failure} />}
      <Button onClick={open} isBusy={isOpening}>
        {account.open}
      </Button>
    </div>
  )
}
