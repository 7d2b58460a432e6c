// Takes the page from loading to a signed-in API client.

import { type Client, createClient, type TokenPair } from '../../sdk/index.ts'
import { accountScope, type SignIn, usualScope } from './sign-in.ts'

export type Booted = {
  readonly client: Client
  /** For questions about one of several servers, by its name. */
  readonly clientOf: (server: string) => Client
  /**
   * Client for operations that create or revoke credentials. Present only when the user has just entered the password
   * for it.
   */
  readonly accountTokens: TokenPair | undefined
}

/**
 * Never resolves when the page navigates away to sign in. Throws when the server is unreachable or refuses the sign-in.
 */
export async function boot(signIn: SignIn, location: Location, history: History): Promise<Booted> {
  const baseUrl = location.origin
  const here = () => `${location.pathname}${location.search}${location.hash}`
  const finished = signIn.isCallback(location) ? await signIn.finish(location.href) : undefined
  if (signIn.isCallback(location)) history.replaceState(null, '', finished?.returnTo ?? '/')
  const tokens = finished?.scope === usualScope ? finished.tokens : await signIn.silently(usualScope)
  if (!tokens) {
    await signIn.leave(usualScope, here())
    return new Promise(() => {})
  }
  const auth = signIn.createAuth(tokens, here)
  return {
    client: createClient({ baseUrl, auth }),
    clientOf: (server) => createClient({ baseUrl: `${baseUrl}/at/${server}`, auth }),
    accountTokens: finished?.scope === accountScope ? finished.tokens : undefined,
  }
}
