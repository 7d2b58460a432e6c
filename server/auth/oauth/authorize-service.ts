// The authorization endpoint for the pages (RFC 6749 section 3.1): checks what an application requests and builds the
// response to it. The pages sign the user in and ask for consent.

import { AppError } from '../../base/error.ts'
import { readAuthorizeInput, readAuthorizeQuery, readClientId, readTarget } from '../../model/oauth/authorize.ts'
import { OAuthError } from '../../model/oauth/oauth-error.ts'
import { writeRedirect } from '../../model/oauth/redirect.ts'
import { isRegistered } from '../../model/oauth/redirect-uri.ts'
import type { Application } from '../../store/accounts/applications.ts'
import { hashToken } from '../checked-token.ts'
import type { RequestContext } from '../request-context.ts'
import { createDashboardClient, dashboardClientId, isLoadOfDashboard } from './dashboard-client.ts'
import type { OAuthOptions } from './oauth-options.ts'
import { createOAuthSecret } from './oauth-secrets.ts'
import type { AskedSession, AuthorizeCheck, AuthorizeDescription, AuthorizeRequest } from './oauth-types.ts'

export class AuthorizeService {
  readonly #options: OAuthOptions

  constructor(options: OAuthOptions) {
    this.#options = options
  }

  /** `search`: the query as it was sent. */
  async check(search: URLSearchParams | string): Promise<AuthorizeCheck> {
    try {
      return await this.#check(String(search))
    } catch (error) {
      if (error instanceof OAuthError) return { kind: 'refused', error: error.code, detail: error.message }
      throw error
    }
  }

  /**
   * Throws 'conflict' if the application no longer has the redirect URI, and 'unauthenticated' if the session has
   * ended.
   */
  async approve(
    request: AuthorizeRequest,
    session: AskedSession,
    context: RequestContext,
  ): Promise<{ location: string }> {
    const { store, clock, policy, randomBytes, audit } = this.#options
    const { redirectUri, scopes, codeChallenge } = request
    const { userId } = session
    const client = await this.#getClient(request)
    const code = createOAuthSecret('code', randomBytes)
    await store.grants.insertCode({
      hash: hashToken(code),
      applicationId: client.id,
      userId,
      redirectUri,
      scopes,
      codeChallenge,
      expiresAtMs: clock.nowMs() + policy.codeMs,
      session,
      endsWithSession: client.isBuiltIn,
    })
    const detail = { application: client.id, scope: scopes.join(' ') }
    if (!isLoadOfDashboard(client, scopes))
      audit.write({ event: 'grant.approved', userId, subject: client.name, context, detail })
    return { location: this.#redirect(request, { code }) }
  }

  /** Throws like `approve`, so that the browser is not redirected to a URI that no application has. */
  async deny(request: AuthorizeRequest): Promise<{ location: string }> {
    await this.#getClient(request)
    return { location: this.#redirect(request, { error: 'access_denied' }) }
  }

  describe({ appName, ownerName, redirectUri, scopes }: AuthorizeRequest): AuthorizeDescription {
    const { host, protocol } = new URL(redirectUri)
    const { grantMs, refreshTokenMs } = this.#options.policy
    return {
      appName,
      ownerName,
      redirectHost: /^https?:$/.test(protocol) ? host : protocol.slice(0, -1),
      scopes,
      idleDays: toDays(refreshTokenMs),
      mostDays: grantMs === undefined ? undefined : toDays(grantMs),
    }
  }

  async #getClient({ clientId, redirectUri }: AuthorizeRequest): Promise<Application> {
    const client = await this.#options.store.applications.find(clientId)
    if (client && isRegistered(redirectUri, client.redirectUris)) return client
    throw new AppError('conflict', 'Mismatching redirect URI.')
  }

  async #check(search: string): Promise<AuthorizeCheck> {
    const { applications, users } = this.#options.store
    const query = readAuthorizeQuery(search)
    const clientId = readClientId(query)
    if (clientId === dashboardClientId) await applications.setBuiltIn(createDashboardClient(this.#options.publicUrl))
    const client = await applications.find(clientId)
    const { redirectUri, state } = readTarget(query, client)
    try {
      const { scopes, codeChallenge } = readAuthorizeInput(query, client!)
      const owner = await users.find(client!.ownerId)
      const request: AuthorizeRequest = {
        clientId: client!.clientId,
        appName: client!.name,
        ownerName: owner ? `${owner.firstName} ${owner.lastName}`.trim() || owner.email : '',
        redirectUri,
        scopes,
        ...(state !== undefined && { state }),
        ...(codeChallenge !== undefined && { codeChallenge }),
        ...(client!.isBuiltIn && { isBuiltIn: true as const }),
      }
      return { kind: 'ask', request }
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error
      const answer = { error: error.code, error_description: error.description }
      return { kind: 'redirect_error', location: this.#redirect({ redirectUri, state }, answer) }
    }
  }

  /** `iss` identifies the server that responds (RFC 9207). */
  #redirect(
    { redirectUri, state }: { redirectUri: string; state?: string | undefined },
    answer: Readonly<Record<string, string | undefined>>,
  ): string {
    return writeRedirect(redirectUri, { ...answer, iss: this.#options.publicUrl }, state)
  }
}

const toDays = (ms: number): number => Math.round(ms / 86_400_000)
