// Who is signed in with a browser: from the cookie to the user. A session ends 14 days after it was last used, some time after it
// began however much it is used, when it is revoked, and when its account is disabled. To renew what the dashboard was granted in it is
// to use it too: see store/oauth-effects.ts.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { repeat } from '../../base/repeat.ts'
import type { SecondFactorKind } from '../../model/second-factor-kind.ts'
import { sessionIdleMs } from '../../model/session-limits.ts'
import type { ProvenUser } from '../../store/accounts/proven-user.ts'
import type { FoundSession, SessionRecord, SessionRows } from '../../store/accounts/sessions.ts'
import type { RequestContext } from '../request-context.ts'
import { findCookie, writeCookie } from './cookie.ts'
import { createSecretValue, formTokenOf, hashSecretValue, isFormToken, looksSecret } from './secret-value.ts'

const dayMs = 86_400_000
const usualAgeLimitMs = 30 * dayMs
/** Browsers keep no cookie for longer (RFC 6265bis section 5.5). */
const longestCookieMs = 400 * dayMs
/** How long a password, and a second factor, that were given count for what asks for them. */
const proofLimitMs = 10 * 60_000
const seenIntervalMs = 5 * 60_000
const cleanIntervalMs = 3_600_000
const maxAgentLength = 256
const cookieName = 'session'

/** With what is known of its account at the moment: what is made for its user is refused when the version has grown since. */
export type Session = FoundSession & {
  /** For every form shown in this session. */
  readonly formToken: string
  /** Whether a form that was sent carries that token. */
  isFormToken(token: string): boolean
}

/** What was proved when a session began: the password unless said otherwise. */
export type Proofs = {
  readonly hasGivenPassword?: boolean
  readonly secondFactor?: SecondFactorKind
  readonly needsSecondFactor?: boolean
}

type Proven = Pick<Session, 'passwordAtMs' | 'secondFactorAtMs' | 'hasSecondFactor'>

export type SessionsOptions = {
  readonly rows: SessionRows
  readonly clock: Clock
  readonly log: Logger
  /** After so long the password is asked for again, whatever happened; 30 days unless given, infinite for never. */
  readonly ageLimitMs?: number
}

export class Sessions {
  readonly #rows: SessionRows
  readonly #clock: Clock
  readonly #log: Logger
  readonly #ageLimitMs: number

  constructor({ rows, clock, log, ageLimitMs = usualAgeLimitMs }: SessionsOptions) {
    this.#rows = rows
    this.#clock = clock
    this.#log = log
    this.#ageLimitMs = ageLimitMs
  }

  /**
   * After its user was proved, for the account as it was then: throws 'unauthenticated' when it was changed since. `cookie` is the
   * value of a Set-Cookie header; it is never the same twice. Without `hasGivenPassword`, what asks for a recent
   * password asks for it; what `needsSecondFactor` means is said of `SessionRecord`.
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

  /** From a Cookie header. Undefined when there is no session, or none any more. */
  async find(cookieHeader: string | undefined): Promise<Session | undefined> {
    const value = findCookie(cookieHeader, cookieName)
    if (value === undefined || !looksSecret(value)) return undefined
    const found = await this.#rows.findByHash(hashSecretValue(value))
    if (!found || !this.#isLive(found)) return undefined
    await this.#noteSeen(found)
    return { ...found, formToken: formTokenOf(value), isFormToken: (token) => isFormToken(value, token) }
  }

  /** True while the password, and a second factor where the account has one, were given a short time ago; see `renew`. */
  hasRecentProof({ passwordAtMs, secondFactorAtMs, hasSecondFactor }: Proven): boolean {
    const sinceMs = this.#clock.nowMs() - proofLimitMs
    return passwordAtMs > sinceMs && (!hasSecondFactor || (secondFactorAtMs ?? 0) > sinceMs)
  }

  /**
   * After the password was given again, and a second factor or not: the same session, under a new cookie. Throws 'not_found' when it
   * has ended.
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

  /** Signs out. `cookie` removes the browser's. */
  async end(session: SessionRecord): Promise<{ readonly cookie: string }> {
    await this.#rows.remove(session.userId, session.id)
    return { cookie: writeSessionCookie('', 0) }
  }

  /** The user's sessions, most recently used first. */
  async list(userId: number): Promise<SessionRecord[]> {
    return (await this.#rows.list(userId)).filter((session) => this.#isLive(session))
  }

  /** Throws 'not_found' unless it is a session of this user. */
  async revoke(userId: number, sessionId: string): Promise<void> {
    const isRemoved = await this.#rows.remove(userId, sessionId)
    if (!isRemoved) throw new AppError('not_found', 'there is no such session')
  }

  async endAllOfUser(userId: number, exceptSessionId?: string): Promise<void> {
    await this.#rows.removeOfUser(userId, exceptSessionId)
  }

  /** Removes what has expired, each hour; ends when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const clean = async () => {
      const nowMs = this.#clock.nowMs()
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
      this.#log.warn({ reason: errorChain(error) }, 'the use of a session could not be noted')
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
