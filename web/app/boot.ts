// From opening the page to a client that is signed in.

import { type Client, createClient, type TokenPair } from '../../sdk/index.ts'
import { accountScope, type SignIn, usualScope } from './sign-in.ts'

export type Booted = {
  readonly client: Client
  /** For what makes or ends credentials; there when the password was just given for it. */
  readonly accountTokens: TokenPair | undefined
}

/** Never resolves when the whole page is on its way to sign in. Throws when the server cannot be reached or refuses. */
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
  return {
    client: createClient({ baseUrl, auth: signIn.createAuth(tokens, here) }),
    accountTokens: finished?.scope === accountScope ? finished.tokens : undefined,
  }
}
