// Browser sessions. A session ends 14 days after its last use, at its maximum age however often it is used, when it is
// revoked, and when the account is disabled. Renewing the dashboard's grant also counts as use; see
// store/accounts/oauth-effects.ts.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { repeat } from '../../base/repeat.ts'
import type { SecondFactorKind } from '../../model/second-factor-kind.ts'
import { sessionIdleMs } from '../../model/session-limits.ts'
import type { ProvenUser } from '../../store/accounts/proven-user.ts'
import type { FoundSession, SessionRecord, SessionRows } from '../../store/accounts/sessions.ts'
import type { Credential } from '../caller.ts'
import type { RequestContext } from '../request-context.ts'
import { findCookie, writeCookie } from './cookie.ts'
import { createSecretValue, formTokenOf, hashSecretValue, isFormToken, looksSecret } from './secret-value.ts'

const dayMs = 86_400_000
const usualAgeLimitMs = 30 * dayMs
/** The longest lifetime of a cookie in browsers (RFC 6265bis section 5.5). */
const longestCookieMs = 400 * dayMs
/** How long a confirmation with the password and the second factor is valid. */
const proofLimitMs = 10 * 60_000
const seenIntervalMs = 5 * 60_000
const cleanIntervalMs = 3_600_000
const maxAgentLength = 256
const cookieName = 'session'

/** Contains the account's current version. Changes are refused if the version has increased since. */
export type Session = FoundSession & {
  /** The token of every form that is shown in this session. */
  readonly formToken: string
  /** True if a form contains that token. */
  isFormToken(token: string): boolean
}

/** What was proved when the session started: by default, the password. */
export type Proofs = {
  readonly hasGivenPassword?: boolean
  readonly secondFactor?: SecondFactorKind
  readonly needsSecondFactor?: boolean
}

type Proven = Pick<Session, 'passwordAtMs' | 'secondFactorAtMs' | 'hasSecondFactor'>

export type SessionsOptions = {
  readonly rows: SessionRows
  readonly clock: Clock
  /** The time that decides which sessions are removed; by default that of the clock. */
  readonly deletionMs?: () => number
  readonly log: Logger
  /** After this time, users must sign in again in any case; 30 days by default, Infinity for never. */
  readonly ageLimitMs?: number
}

export class Sessions {
  readonly #rows: SessionRows
  readonly #clock: Clock
  readonly #deletionMs: () => number
  readonly #log: Logger
  readonly #ageLimitMs: number

  constructor({ rows, clock, deletionMs, log, ageLimitMs = usualAgeLimitMs }: SessionsOptions) {
    this.#rows = rows
    this.#clock = clock
    this.#deletionMs = deletionMs ?? (() => clock.nowMs())
    this.#log = log
    this.#ageLimitMs = ageLimitMs
  }

  /**
   * Starts a session for a user who has proved their identity. Throws 'unauthenticated' if the account has changed
   * since. `cookie` is the value of a Set-Cookie header and always new. Without `hasGivenPassword`, actions that need a
   * recent password ask for it. `needsSecondFactor` is explained at `SessionRecord`.
   */
  async start(
    { id: userId, credentialsVersion }: ProvenUser,
    context: RequestContext,
    { hasGivenPassword = true, secondFactor, needsSecondFactor = false }: Proofs = {},
  ): Promise<{ readonly cookie: string; readonly id: string }> {
    const value = createSecretValue()
    const nowMs = this.#clock.nowMs()
    const id = randomBytes(12).toString('base64url')
    await this.#rows.insert({
      id,
      hash: hashSecretValue(value),
      userId,
      credentialsVersion,
      createdAtMs: nowMs,
      seenAtMs: nowMs,
      passwordAtMs: hasGivenPassword ? nowMs : 0,
      secondFactorAtMs: secondFactor ? nowMs : null,
      secondFactor: secondFactor ?? null,
      needsSecondFactor,
      ip: context.ip,
      userAgent: readableAgent(context.userAgent),
    })
    return { id, cookie: writeSessionCookie(value, this.#ageLimitMs) }
  }

  /** Finds the session of a Cookie header. Returns undefined if there is none or it has ended. */
  async find(cookieHeader: string | undefined): Promise<Session | undefined> {
    const value = findCookie(cookieHeader, cookieName)
    if (value === undefined || !looksSecret(value)) return undefined
    const found = await this.#rows.findByHash(hashSecretValue(value))
    if (!found || !this.#isLive(found)) return undefined
    await this.#noteSeen(found)
    return { ...found, formToken: formTokenOf(value), isFormToken: (token) => isFormToken(value, token) }
  }

  /**
   * True for a short time after the password, and the second factor if the account has one, were entered; see `renew`.
   */
  hasRecentProof({ passwordAtMs, secondFactorAtMs, hasSecondFactor }: Proven): boolean {
    const sinceMs = this.#clock.nowMs() - proofLimitMs
    return passwordAtMs > sinceMs && (!hasSecondFactor || (secondFactorAtMs ?? 0) > sinceMs)
  }

  /**
   * Renews the session with a new cookie after the password was entered again, with or without a second factor. Throws
   * 'not_found' if the session has ended.
   */
  async renew(
    session: SessionRecord,
    { secondFactor }: Pick<Proofs, 'secondFactor'> = {},
  ): Promise<{ readonly cookie: string }> {
    const value = createSecretValue()
    const nowMs = this.#clock.nowMs()
    const isRenewed = await this.#rows.renew(session.id, hashSecretValue(value), { nowMs, secondFactor })
    if (!isRenewed) throw new AppError('not_found', 'the session has ended')
    return { cookie: writeSessionCookie(value, session.createdAtMs + this.#ageLimitMs - nowMs) }
  }

  /** Ends the session. `cookie` deletes the browser's cookie. */
  async end(session: SessionRecord): Promise<{ readonly cookie: string }> {
    await this.#rows.remove(session.userId, session.id)
    return { cookie: writeSessionCookie('', 0) }
  }

  /** The user's sessions, most recently used first. */
  async list(userId: number): Promise<SessionRecord[]> {
    return (await this.#rows.list(userId)).filter((session) => this.#isLive(session))
  }

  /** The session of the dashboard that sends this credential; undefined for other credentials. */
  async findOf(credential: Credential): Promise<string | undefined> {
    return credential.kind === 'grant' ? this.#rows.findOfGrant(credential.id) : undefined
  }

  /** Throws 'not_found' unless it is a session of this user. */
  async revoke(userId: number, sessionId: string): Promise<void> {
    const isRemoved = await this.#rows.remove(userId, sessionId)
    if (!isRemoved) throw new AppError('not_found', 'the session does not exist')
  }

  async endAllOfUser(userId: number, exceptSessionId?: string): Promise<void> {
    await this.#rows.removeOfUser(userId, exceptSessionId)
  }

  /** Removes expired sessions every hour until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const clean = async () => {
      const nowMs = this.#deletionMs()
      await this.#rows.removeExpired({
        seenBeforeMs: nowMs - sessionIdleMs,
        createdBeforeMs: Math.max(0, nowMs - this.#ageLimitMs),
      })
    }
    await repeat(clean, { clock: this.#clock, signal, intervalMs: cleanIntervalMs })
  }

  #isLive({ seenAtMs, createdAtMs }: SessionRecord): boolean {
    const nowMs = this.#clock.nowMs()
    return nowMs - seenAtMs < sessionIdleMs && nowMs - createdAtMs < this.#ageLimitMs
  }

  async #noteSeen({ id, seenAtMs }: SessionRecord): Promise<void> {
    const nowMs = this.#clock.nowMs()
    if (nowMs - seenAtMs < seenIntervalMs) return
    try {
      await this.#rows.setSeen(id, nowMs)
    } catch (error) {
      this.#log.warn({ reason: errorChain(error) }, 'the last use of a session could not be saved')
    }
  }
}

function writeSessionCookie(value: string, ageMs: number): string {
  return writeCookie(cookieName, value, {
    maxAgeSeconds: Math.max(0, Math.floor(Math.min(ageMs, longestCookieMs) / 1000)),
  })
}

function readableAgent(userAgent: string | undefined): string | null {
  return userAgent === undefined ? null : userAgent.slice(0, maxAgentLength).replaceAll(/\p{Cc}/gu, ' ')
}
