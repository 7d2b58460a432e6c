// Provides the API clients that the views use.

import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react'
import { type Client, createClient } from '../../sdk/index.ts'
import type { Booted } from './boot.ts'
import { accountScope, type SignIn } from './sign-in.ts'

type Clients = Pick<Booted, 'client' | 'clientOf'> & {
  /**
   * For operations that create or revoke credentials. Present after the user entered the password for it, until that
   * grant ends.
   */
  readonly accountClient: Client | undefined
  /**
   * Returns the account client: immediately if the password was entered recently, otherwise after a redirect to enter
   * it.
   */
  readonly openAccount: () => Promise<void>
  /** After the page was loaded again: gets the account client if it is still available without the password. */
  readonly reopenAccount: () => Promise<void>
}

/** That the password was entered in this tab. Whether that still counts, the server decides. */
const enteredKey = 'has-entered-password'

const Context = createContext<Clients | undefined>(undefined)

export function ClientsProvider(props: {
  readonly booted: Booted
  readonly signIn: SignIn
  readonly children: ReactNode
}) {
  const { booted, signIn, children } = props
  const [accountTokens, setAccountTokens] = useState(booted.accountTokens)
  const accountClient = useMemo(() => {
    if (!accountTokens) return undefined
    const auth = signIn.createAccountAuth(accountTokens, () => setAccountTokens(undefined))
    return createClient({ baseUrl: location.origin, auth })
  }, [signIn, accountTokens])
  useEffect(() => {
    if (accountTokens) sessionStorage.setItem(enteredKey, 'yes')
  }, [accountTokens])
  const reopenAccount = useCallback(async () => {
    if (sessionStorage.getItem(enteredKey) === null) return
    const tokens = await signIn.silently(accountScope)
    if (tokens) setAccountTokens(tokens)
    else sessionStorage.removeItem(enteredKey)
  }, [signIn])
  const openAccount = useCallback(async () => {
    const tokens = await signIn.silently(accountScope)
    if (tokens) setAccountTokens(tokens)
    else await signIn.leave(accountScope, `${location.pathname}${location.search}`)
  }, [signIn])
  const clients = useMemo(
    () => ({ client: booted.client, clientOf: booted.clientOf, accountClient, openAccount, reopenAccount }),
    [booted, accountClient, openAccount, reopenAccount],
  )
  return <Context value={clients}>{children}</Context>
}

function useClients(): Clients {
  const clients = useContext(Context)
  if (!clients) throw new Error('there is no client outside of ClientsProvider')
  return clients
}

export function useClient(): Client {
  return useClients().client
}

/** Of one of several servers. */
export function useClientOf(server: string): Client {
  const { clientOf } = useClients()
  return useMemo(() => clientOf(server), [clientOf, server])
}

/** See `Clients`. Views request it through parts/require-password.tsx. */
export function useAccountClient(): Omit<Clients, 'client' | 'clientOf'> {
  return useClients()
}
