// For tests: OAuth on a temporary store. Only the password check is replaced.

import { createHash, randomBytes } from 'node:crypto'
import { hashToken, type RandomBytes } from '../../../server/auth/checked-token.ts'
import { createOAuth, type OAuth } from '../../../server/auth/oauth/oauth.ts'
import type { OAuthOptions } from '../../../server/auth/oauth/oauth-options.ts'
import type { AskedSession, TokenAnswer } from '../../../server/auth/oauth/oauth-types.ts'
import type { RequestContext } from '../../../server/auth/request-context.ts'
import { Sessions } from '../../../server/auth/sessions/sessions.ts'
import { systemClock } from '../../../server/base/clock.ts'
import { silentLogger } from '../../../server/base/log.ts'
import { defaultPolicy, type OAuthPolicy } from '../../../server/model/oauth/policy.ts'
import type { Application } from '../../../server/store/accounts/applications.ts'
import type { User } from '../../../server/store/accounts/users.ts'
import type { Store } from '../../../server/store/store.ts'

export const testContext: RequestContext = { ip: '192.0.2.7', userAgent: 'test/1.0' }
export const testIssuer = 'https://nightjar.example:8443'
/** The password of all accounts that `addUser` creates. */
export const testPassword = 'correct horse battery staple'
export const testSecret = 'njcs_test_secret_that_nobody_guesses'

type Changes = Partial<Omit<OAuthOptions, 'policy'>> & { readonly policy?: Partial<OAuthPolicy> }

export function createTemporaryOAuth(store: Store, { policy, ...changes }: Changes = {}): OAuth {
  return createOAuth({
    store,
    login: {
      verify: async ({ email, password }) => {
        const user = await store.users.findByEmail(email)
        return password === testPassword && user?.disabledAtMs === null ? user : undefined
      },
    },
    isSecondFactorMissing: async () => false,
    audit: { write: () => {} },
    clock: systemClock,
    log: silentLogger,
    publicUrl: testIssuer,
    randomBytes,
    ...changes,
    policy: { ...defaultPolicy, ...policy },
  })
}

export function addUser(store: Store, email = 'ada@example.org'): Promise<User> {
  return store.users.insert({ email, firstName: 'Ada', lastName: 'Lind', passwordHash: '!' })
}

/** A browser session of the user, as the authorization endpoint sees it. */
export async function addSession(store: Store, { id: userId, credentialsVersion }: User): Promise<AskedSession> {
  const sessions = new Sessions({ rows: store.sessions, clock: systemClock, log: silentLogger })
  const { id } = await sessions.start({ id: userId, credentialsVersion }, testContext)
  return { id, userId, credentialsVersion }
}

type AppChanges = Partial<Omit<Application, 'id' | 'createdAtMs' | 'isConfidential'>> & {
  readonly ownerId: number
  readonly isConfidential?: boolean
}

/** Has the secret `testSecret` unless it is public. */
export function addApplication(store: Store, changes: AppChanges): Promise<Application> {
  const { isConfidential = true, ...rest } = changes
  return store.applications.insert({
    clientId: 'app',
    name: 'Doorbell',
    redirectUris: ['https://app.example/cb'],
    secretHash: isConfidential ? hashToken(testSecret) : null,
    ...rest,
  })
}

export type Sent = Readonly<Record<string, string | undefined>>

/** The fields of a request to the token endpoint. */
export function askToken(
  oauth: OAuth,
  fields: Sent,
  more: { readonly authorization?: string; readonly idempotencyKey?: string } = {},
): Promise<TokenAnswer> {
  return oauth.tokens.token({ form: toForm(fields), context: testContext, ...more })
}

export function askRevoke(oauth: OAuth, fields: Sent): Promise<TokenAnswer> {
  return oauth.tokens.revoke({ form: toForm(fields), context: testContext })
}

function toForm(fields: Sent): [string, string][] {
  return Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined)
}

export type PairBody = {
  readonly access_token: string
  readonly expires_in: number
  readonly token_type: string
  readonly scope: string
  readonly refresh_token: string
}

/** Throws the response if it is an error. */
export function readPair(answer: TokenAnswer): PairBody {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`)
  return JSON.parse(answer.body) as PairBody
}

/** `{ error, error_description? }` with the status. */
export function readRefusal({ status, body }: TokenAnswer): [status: number, error: string, description?: string] {
  const { error, error_description } = JSON.parse(body) as { error: string; error_description?: string }
  return error_description === undefined ? [status, error] : [status, error, error_description]
}

/**
 * Returns the same bytes in the same order for the same seed, so that a test knows what a killed process would have
 * returned.
 */
export function createSeeded(seed: string): RandomBytes {
  let drawn = 0
  return (count) => createHash('shake256', { outputLength: count }).update(`${seed} ${drawn++}`).digest()
}
