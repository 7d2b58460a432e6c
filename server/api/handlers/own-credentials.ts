// /v1/me/tokens/, /v1/me/authorizations/, /v1/me/sessions/: the credentials of the caller's account, to list and
// revoke.

import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { Audit } from '../../auth/guard/audit.ts'
import type { OAuth } from '../../auth/oauth/oauth.ts'
import type { PersonalTokens } from '../../auth/personal-tokens.ts'
import type { Sessions } from '../../auth/sessions/sessions.ts'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import { accountScope, defaultScopes, parseScopes } from '../../model/access.ts'
import { getFutureTime } from '../../model/time-range.ts'
import { writeAuthorization, writePersonalToken, writeSession } from '../answers/account.ts'
import type { Handlers } from '../call.ts'
import { checkGivenPassword } from '../given-password.ts'
import { checkGrantable } from '../grantable-scopes.ts'
import { pageOf } from '../page-of.ts'

export type OwnCredentialsOptions = {
  readonly personalTokens: PersonalTokens
  readonly oauth: Pick<OAuth, 'grants'>
  readonly sessions: Pick<Sessions, 'list' | 'revoke' | 'findOf'>
  readonly accounts: Pick<Accounts, 'selfService'>
  readonly audit: Pick<Audit, 'write'>
  readonly publicUrl: string
  readonly clock: Pick<Clock, 'nowMs'>
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
  const { personalTokens, oauth, sessions, accounts, audit, publicUrl, clock } = options

  return {
    async listTokens(call) {
      const rows = await personalTokens.list(call.caller.userId)
      return pageOf(call, `${publicUrl}/v1/me/tokens/`, rows, writePersonalToken)
    },

    async createToken(call) {
      const { caller } = call
      const { name = '', scope, expires_at: expiresAt = null, password } = call.body()
      const scopes = scope === undefined ? defaultScopes : parseScopes(scope)
      checkGrantable(scopes, caller)
      const expiresAtMs = expiresAt === null ? null : getFutureTime('expires_at', expiresAt, clock.nowMs())
      const context = call.context()
      const credentialsVersion = scopes.includes(accountScope)
        ? await checkGivenPassword(accounts, { caller, password, field: 'password', context })
        : caller.credentialsVersion
      // What is created with a stolen token must not outlive it. The dashboard's own token expires within minutes and
      // represents a person.
      const maker = caller.hasGivenPassword ? undefined : caller.credential
      const owner = { userId: caller.userId, credentialsVersion, maker, context }
      const { token, value } = await personalTokens.create({ ...owner, name, scopes, expiresAtMs })
      return { ...writePersonalToken(token), token: value }
    },

    async deleteToken(call) {
      await personalTokens.revoke(call.caller.userId, call.params.token_id, call.context())
      return null
    },

    async listAuthorizations(call) {
      const rows = await oauth.grants.list(call.caller.userId)
      return pageOf(call, `${publicUrl}/v1/me/authorizations/`, rows, writeAuthorization)
    },

    async deleteAuthorization(call) {
      const isEnded = await oauth.grants.revoke(call.caller.userId, call.params.authorization_id, call.context())
      if (!isEnded) throw new AppError('not_found', 'you have no such authorization')
      return null
    },

    async listSessions(call) {
      const { userId, credential } = call.caller
      const [rows, currentId] = await Promise.all([sessions.list(userId), sessions.findOf(credential)])
      return pageOf(call, `${publicUrl}/v1/me/sessions/`, rows, (row) => writeSession(row, currentId))
    },

    async deleteSession(call) {
      const { userId } = call.caller
      await sessions.revoke(userId, call.params.session_id)
      audit.write({ event: 'session.revoked', userId, context: call.context() })
      return null
    },
  }
}
