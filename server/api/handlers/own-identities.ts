// /v1/me/identities/, /v1/me/identity-providers/: linked accounts at identity providers.

import type { ProviderService } from '../../auth/providers/provider-service.ts'
import { writeIdentity } from '../answers/account.ts'
import type { Handlers } from '../call.ts'
import { pageOf } from '../page-of.ts'

export type OwnIdentitiesOptions = {
  readonly providers: Pick<ProviderService, 'providers' | 'list' | 'unlink'>
  readonly publicUrl: string
}

type Names = 'listIdentities' | 'listIdentityProviders' | 'deleteIdentity'

/** Linking happens on a page, because it needs a browser and the user's password. */
const linkPath = '/account/providers/'

export function createOwnIdentitiesHandlers({ providers, publicUrl }: OwnIdentitiesOptions): Pick<Handlers, Names> {
  return {
    async listIdentityProviders(call) {
      const linked = await providers.list(call.caller.userId)
      const isLinked = (id: string) => linked.some(({ provider }) => provider?.id === id)
      return pageOf(call, `${publicUrl}/v1/me/identity-providers/`, providers.providers, ({ id, name }) => ({
        id,
        name,
        is_linked: isLinked(id),
        link_url: `${publicUrl}${linkPath}`,
      }))
    },

    async listIdentities(call) {
      const linked = await providers.list(call.caller.userId)
      return pageOf(call, `${publicUrl}/v1/me/identities/`, linked, writeIdentity)
    },

    async deleteIdentity(call) {
      const { userId, credential } = call.caller
      // The calling dashboard stays signed in with its session.
      const kept = credential.kind === 'grant' ? { exceptGrantId: credential.id } : {}
      await providers.unlink(userId, call.params.identity_id, { context: call.context(), ...kept })
      return null
    },
  }
}
