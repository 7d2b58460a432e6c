// /v1/me/tokens/, /v1/me/authorizations/, /v1/me/sessions/: what opens the caller's account, to be seen and ended.

import { randomBytes } from 'node:crypto'
import type { Audit } from '../../auth/guard/audit.ts'
import type { OAuth } from '../../auth/oauth/oauth.ts'
import { createPersonalToken, describePersonalToken } from '../../auth/personal-token.ts'
import type { Sessions } from '../../auth/sessions/sessions.ts'
import { AppError } from '../../base/error.ts'
import { defaultScopes, parseScopes } from '../../model/access.ts'
import type { Store } from '../../store/store.ts'
import { writeAuthorization, writePersonalToken, writeSession } from '../answers/account.ts'
import type { Handlers } from '../call.ts'
import { checkGiveable } from '../giveable-scopes.ts'
import { pageOf } from '../page-of.ts'

/** More are not for people, who cannot tell them apart. */
const maxTokens = 100

export type OwnCredentialsOptions = {
  readonly store: Pick<Store, 'tokens'>
  readonly oauth: Pick<OAuth, 'listGrants' | 'revokeGrant'>
  readonly sessions: Pick<Sessions, 'list' | 'revoke'>
  readonly audit: Pick<Audit, 'write'>
  readonly publicUrl: string
}

type Names =
  | 'listTokens'
  | 'createToken'
  | 'deleteToken'
  | 'listAuthorizations'
  | 'deleteAuthorization'
  | 'listSessions'
  | 'deleteSession'

export function createOwnCredentialsHandlers(options: OwnCredentialsOptions): Pick<Handlers, Names> {
  const { oauth, sessions, audit, publicUrl } = options
  const { tokens } = options.store
  const listLive = async (userId: number) => (await tokens.list(userId)).filter((token) => token.revokedAtMs === null)

  return {
    async listTokens(call) {
      const rows = await listLive(call.caller.userId)
      return pageOf(call, `${publicUrl}/v1/me/tokens/`, rows, writePersonalToken)
    },

    async createToken(call) {
      const { userId } = call.caller
      const { name = '', scope } = call.body()
      const scopes = scope === undefined ? defaultScopes : parseScopes(scope)
      checkGiveable(scopes, call.caller)
      if ((await listLive(userId)).length >= maxTokens) {
        throw new AppError('invalid', `There are ${maxTokens} tokens already; revoke one that is not needed.`)
      }
      const value = createPersonalToken(randomBytes)
      const token = await tokens.insert({ userId, name, scopes, ...describePersonalToken(value) })
      const detail = { token: token.id, scope: scopes.join(' ') }
      audit.write({ event: 'pat.created', userId, subject: name, context: call.context(), detail })
      return { ...writePersonalToken(token), token: value }
    },

    async deleteToken(call) {
      const { userId } = call.caller
      const token = (await listLive(userId)).find(({ id }) => id === call.params.token_id)
      if (!token) throw new AppError('not_found', 'there is no such token of the user')
      await tokens.revoke(token.id)
      const detail = { token: token.id }
      audit.write({ event: 'pat.revoked', userId, subject: token.name, context: call.context(), detail })
      return null
    },

    async listAuthorizations(call) {
      const rows = await oauth.listGrants(call.caller.userId)
      return pageOf(call, `${publicUrl}/v1/me/authorizations/`, rows, writeAuthorization)
    },

    async deleteAuthorization(call) {
      const isEnded = await oauth.revokeGrant(call.caller.userId, call.params.authorization_id, call.context())
      if (!isEnded) throw new AppError('not_found', 'there is no such grant of the user')
      return null
    },

    async listSessions(call) {
      const rows = await sessions.list(call.caller.userId)
      return pageOf(call, `${publicUrl}/v1/me/sessions/`, rows, writeSession)
    },

    async deleteSession(call) {
      const { userId } = call.caller
      await sessions.revoke(userId, call.params.session_id)
      audit.write({ event: 'session.revoked', userId, context: call.context() })
      return null
    },
  }
}
