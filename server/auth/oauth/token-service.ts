// The token and revocation endpoints (RFC 6749 section 3.2, RFC 7009): parse the request, look up what it refers to,
// call the decision functions, apply their effects and return the response.

import { createHash } from 'node:crypto'
import { AppError } from '../../base/error.ts'
import { type ClientProof, checkClient } from '../../model/oauth/client.ts'
import { readClientCredentials } from '../../model/oauth/client-credentials.ts'
import { decideCodeExchange, decideLogin } from '../../model/oauth/decide-login.ts'
import { decideRefresh } from '../../model/oauth/decide-refresh.ts'
import { decideRevoke } from '../../model/oauth/decide-revoke.ts'
import type { Decision, Effect } from '../../model/oauth/decision.ts'
import { type Fields, readFields } from '../../model/oauth/fields.ts'
import { OAuthError } from '../../model/oauth/oauth-error.ts'
import { chooseScopes } from '../../model/oauth/scope.ts'
import { type GrantType, readGrantType, readTokenRequest, type TokenRequest } from '../../model/oauth/token-request.ts'
import type { Client } from '../../store/accounts/applications.ts'
import type { User } from '../../store/accounts/users.ts'
import { hashToken } from '../checked-token.ts'
import type { RequestContext } from '../request-context.ts'
import { accountGrantMs, isLoadOfDashboard, needsPassword } from './dashboard-client.ts'
import type { OAuthOptions } from './oauth-options.ts'
import { createOAuthSecret, isOAuthSecret, isSecretOf } from './oauth-secrets.ts'
import type { RevokeInput, TokenAnswer, TokenInput } from './oauth-types.ts'
import { sealReply, unsealReply } from './sealed-reply.ts'
import { answerEmpty, answerError, answerFailure, answerJson, writePair } from './token-answer.ts'

/** The client that sends the request, and its origin. */
type Requester = { readonly client: Client; readonly context: RequestContext }

/** A code or token from a request that has our format. */
type Presented = { readonly value: string; readonly hash: Uint8Array }

type Settling = {
  readonly presented?: Presented
  /** If set, the response is stored, sealed, and returned again when the request is repeated. */
  readonly idempotencyKey?: string | undefined
  /** The version of the account whose password was verified. */
  readonly credentialsVersion?: number
  readonly decide: (nowMs: number) => Decision | Promise<Decision>
  readonly repeat?: () => string
}

type Of<T extends GrantType> = Extract<TokenRequest, { grantType: T }>

/** An attempt is repeated if another request changed what it was based on. The next attempt sees that change. */
const maxAttempts = 5
const maxLabelLength = 200

export class TokenService {
  readonly #options: OAuthOptions

  constructor(options: OAuthOptions) {
    this.#options = options
  }

  token(input: TokenInput): Promise<TokenAnswer> {
    return this.#answer(async () => {
      const fields = readFields(input.form)
      const grantType = readGrantType(fields)
      const requester = {
        client: await this.#getClient(fields, input.authorization, grantType),
        context: input.context,
      }
      const request = readTokenRequest(grantType, fields)
      switch (request.grantType) {
        case 'password':
          return this.#logIn(request, requester)
        case 'authorization_code':
          return this.#exchangeCode(request, requester)
        case 'refresh_token':
          return this.#refresh(request, requester, this.#replyKey(input.idempotencyKey))
      }
    })
  }

  revoke(input: RevokeInput): Promise<TokenAnswer> {
    return this.#answer(async () => {
      const fields = readFields(input.form)
      const client = await this.#getClient(fields, input.authorization, 'revoke')
      const value = fields.get('token')
      if (value === undefined) throw new OAuthError('invalid_request', 'Missing token parameter.')
      if (isOAuthSecret('access', value) || isOAuthSecret('refresh', value)) {
        const presented = present(value)
        const decide = async () => decideRevoke(await this.#options.store.grants.findToken(presented.hash), client.id)
        return this.#settle({ presented, decide }, { client, context: input.context })
      }
      return answerEmpty()
    })
  }

  async #answer(work: () => Promise<TokenAnswer>): Promise<TokenAnswer> {
    try {
      return await work()
    } catch (error) {
      const answer = answerFailure(error)
      if (!answer) throw error
      return answer
    }
  }

  async #getClient(fields: Fields, authorization: string | undefined, use: GrantType | 'revoke'): Promise<Client> {
    const { clientId, secrets } = readClientCredentials(fields, authorization)
    const client = await this.#options.store.applications.findClient(clientId)
    const { policy } = this.#options
    const rules = client && { ...client, allowsPassword: client.allowsPassword && policy.allowsPassword }
    checkClient(rules, client ? proofOf(client, secrets) : 'none', use)
    return client!
  }

  async #logIn({ username, password, scope }: Of<'password'>, requester: Requester): Promise<TokenAnswer> {
    const { client, context } = requester
    const { login, policy } = this.#options
    const scopes = chooseScopes(scope, client.scopes)
    const user = await login.verify({ email: username, password, context, via: 'password_grant' })
    if (!user) throw wrongPassword()
    await this.#checkPasswordSuffices(user, requester)
    const granted = { userId: user.id, applicationId: client.id, scopes }
    const { credentialsVersion } = user
    return this.#settle({ credentialsVersion, decide: (nowMs) => decideLogin(granted, nowMs, policy) }, requester)
  }

  /** Checked after the password, so that others cannot find out which accounts have a second factor. */
  async #checkPasswordSuffices(user: User, { client, context }: Requester): Promise<void> {
    const { audit, isSecondFactorMissing } = this.#options
    const isMissing = await isSecondFactorMissing(user)
    if (!user.hasSecondFactor && !isMissing) return
    const detail = { application: client.id, reason: 'second factor' }
    audit.write({ event: 'grant.refused', userId: user.id, subject: client.name, context, detail })
    throw new OAuthError('invalid_grant', isMissing ? secondFactorMissing : secondFactorNeeded)
  }

  async #exchangeCode(request: Of<'authorization_code'>, requester: Requester): Promise<TokenAnswer> {
    const { code, redirectUri, codeVerifier } = request
    if (!isOAuthSecret('code', code)) throw new OAuthError('invalid_grant')
    const { client } = requester
    const { store, policy } = this.#options
    const presented = present(code)
    const exchange = {
      applicationId: client.id,
      isConfidential: client.isConfidential,
      redirectUri,
      answeredChallenge: codeVerifier === undefined ? undefined : challengeOf(codeVerifier),
    }
    const decide = async (nowMs: number) => {
      const found = await store.grants.findCode(presented.hash)
      const isShort = client.isBuiltIn && found !== undefined && needsPassword(found)
      return decideCodeExchange(found, exchange, nowMs, isShort ? { ...policy, grantMs: accountGrantMs } : policy)
    }
    return this.#settle({ presented, decide }, requester)
  }

  async #refresh(
    request: Of<'refresh_token'>,
    requester: Requester,
    idempotencyKey: string | undefined,
  ): Promise<TokenAnswer> {
    const { refreshToken, scope } = request
    if (!isOAuthSecret('refresh', refreshToken)) throw new OAuthError('invalid_grant')
    const { store, policy } = this.#options
    const presented = present(refreshToken)
    let reply: string | undefined
    const decide = async (nowMs: number) => {
      const token = await store.grants.findToken(presented.hash)
      reply = token?.usedAtMs === undefined ? undefined : await this.#findReply(presented, idempotencyKey)
      const request = { applicationId: requester.client.id, scope, hasReply: reply !== undefined }
      return decideRefresh(token, request, nowMs, policy)
    }
    return this.#settle({ presented, idempotencyKey, decide, repeat: () => reply! }, requester)
  }

  /** Undefined: the response is not stored. */
  #replyKey(sent: string | undefined): string | undefined {
    const isStrict = this.#options.policy.reuseLeewayMs === 0
    return checkIdempotencyKey(sent) ?? (isStrict ? undefined : '')
  }

  async #findReply({ value, hash }: Presented, idempotencyKey: string | undefined): Promise<string | undefined> {
    if (idempotencyKey === undefined) return undefined
    const sealed = await this.#options.store.grants.findReply(hash)
    return sealed && unsealReply(sealed, value, idempotencyKey)
  }

  /** Decides, applies the effects and responds. Starts over if another request interfered. */
  async #settle(settling: Settling, requester: Requester): Promise<TokenAnswer> {
    for (let attempt = 1; ; attempt++) {
      const nowMs = this.#options.clock.nowMs()
      const decision = await settling.decide(nowMs)
      try {
        return await this.#carryOut(decision, settling, requester, nowMs)
      } catch (error) {
        const kind = error instanceof AppError ? error.kind : undefined
        if (kind === 'not_found') throw new OAuthError('invalid_grant')
        if (kind === 'unauthenticated') throw wrongPassword()
        if (kind !== 'conflict') throw error
        if (attempt === maxAttempts) throw new AppError('unavailable', 'the grant keeps changing', { cause: error })
      }
    }
  }

  async #carryOut(decision: Decision, settling: Settling, requester: Requester, nowMs: number): Promise<TokenAnswer> {
    const { effects, verdict } = decision
    const { presented, idempotencyKey } = settling
    const { randomBytes, policy, store } = this.#options
    const accessToken = createOAuthSecret('access', randomBytes)
    const refreshToken = createOAuthSecret('refresh', randomBytes)
    const body = verdict.kind === 'issued' ? writePair({ ...verdict, accessToken, refreshToken }) : ''
    const grantId = await store.grants.commit(effects, {
      nowMs,
      presentedHash: presented?.hash,
      credentialsVersion: settling.credentialsVersion,
      pairHashes: { access: hashToken(accessToken), refresh: hashToken(refreshToken) },
      reply:
        presented && idempotencyKey !== undefined
          ? { sealed: sealReply(body, presented.value, idempotencyKey), expiresAtMs: nowMs + policy.replyMs }
          : undefined,
      ip: requester.context.ip.slice(0, 64),
      label: writeLabel(requester.context),
    })
    for (const effect of effects) this.#note(effect, grantId, requester)
    switch (verdict.kind) {
      case 'issued':
        return answerJson(body)
      case 'repeated':
        return answerJson(settling.repeat!())
      case 'refused':
        return answerError(verdict.error, verdict.description)
      case 'done':
        return answerEmpty()
    }
  }

  #note(effect: Effect, grantId: number | undefined, { client, context }: Requester): void {
    const { audit, log, onReuse } = this.#options
    const subject = client.name
    if (effect.kind === 'open_grant' && !isLoadOfDashboard(client, effect.scopes)) {
      const detail = { grant: grantId!, application: client.id, scope: effect.scopes.join(' ') }
      audit.write({ event: 'grant.created', userId: effect.userId, subject, context, detail })
    }
    if (effect.kind !== 'revoke_grant') return
    const { userId, reason } = effect
    const detail = { grant: effect.grantId, application: client.id }
    audit.write({ event: revocationEvents[reason], userId, subject, context, detail })
    if (reason === 'revoked_by_application') return
    log.warn({ ...detail, user: userId, reason }, 'a grant was ended because a one-time code or token was used twice')
    if (reason === 'refresh_reused') onReuse?.({ userId, appName: client.name, context })
  }
}

const revocationEvents = {
  refresh_reused: 'refresh.reused',
  code_reused: 'code.reused',
  revoked_by_application: 'token.revoked',
} as const

const secondFactorNeeded =
  'The account is protected by a second factor. Sign in with a browser (authorization code), or use a personal access token.'
const secondFactorMissing = 'The account must set up a second factor first. Sign in with a browser to do so.'

/** Also used if the account changed while it was being checked. */
function wrongPassword(): OAuthError {
  return new OAuthError('invalid_grant', 'Invalid credentials given.')
}

function present(value: string): Presented {
  return { value, hash: hashToken(value) }
}

function proofOf({ secretHash }: Client, secrets: readonly string[]): ClientProof {
  if (secrets.length === 0) return 'none'
  const isRight = secretHash !== null && secrets.some((secret) => isSecretOf(secretHash, secret))
  return isRight ? 'right' : 'wrong'
}

/** RFC 7636 section 4.6. The result for a malformed verifier equals no challenge. */
function challengeOf(verifier: string): string {
  return /^[\w.~-]{43,128}$/.test(verifier) ? createHash('sha256').update(verifier).digest('base64url') : ''
}

/** draft-ietf-httpapi-idempotency-key-header: any text, with or without quotes. */
function checkIdempotencyKey(key: string | undefined): string | undefined {
  if (key === undefined || /^[\x20-\x7e]{1,255}$/.test(key)) return key
  throw new OAuthError('invalid_request', 'The Idempotency-Key must have 1 to 255 printable characters.')
}

function writeLabel({ userAgent = '' }: RequestContext): string {
  return userAgent.replaceAll(/\p{Cc}/gu, ' ').slice(0, maxLabelLength)
}
