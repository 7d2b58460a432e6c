// Wires up authentication: accounts, sessions, tokens, OAuth, and their guards.

import { randomBytes } from 'node:crypto'
import { createAccounts } from './auth/accounts/accounts.ts'
import { Authenticator } from './auth/authenticator.ts'
import { createCredentialParts } from './auth/credential-parts.ts'
import { Audit } from './auth/guard/audit.ts'
import { KnownDevices } from './auth/guard/known-devices.ts'
import { Login } from './auth/guard/login.ts'
import { PasswordQueue } from './auth/guard/password-queue.ts'
import { RateLimits } from './auth/guard/rate-limits.ts'
import { MediaTokens } from './auth/media-token.ts'
import { createOAuth } from './auth/oauth/oauth.ts'
import type { ProviderClient } from './auth/providers/provider-client.ts'
import { ProviderService } from './auth/providers/provider-service.ts'
import { SecondFactorService } from './auth/second-factor/second-factor-service.ts'
import type { SecretKey } from './auth/secret-key.ts'
import { LongPaths } from './auth/sessions/long-paths.ts'
import { Sessions } from './auth/sessions/sessions.ts'
import type { Clock } from './base/clock.ts'
import type { Logger } from './base/log.ts'
import { repeat } from './base/repeat.ts'
import { createOAuthPolicy, findSessionAgeLimitMs } from './config/derived-settings.ts'
import type { Config } from './config.ts'
import type { Mailer } from './mail/mailer.ts'
import type { Store } from './store/store.ts'

/** They live for some minutes. */
const usedIntervalMs = 60_000

export type AuthOptions = {
  readonly config: Config
  readonly store: Store
  readonly secretKey: SecretKey
  readonly mailer: Mailer
  readonly publicUrl: string
  /** How many servers answer, if the database can have several. */
  readonly servers: (() => number) | undefined
  /** Identity providers that users may sign in with. */
  readonly identityProviders: readonly ProviderClient[]
  readonly clock: Clock
  /** The clock that decides when old records are deleted. */
  readonly deletionMs: () => number
  readonly log: Logger
}

/**
 * Starts nothing. Each server runs `tasks` for as long as it runs, and one server of the database `jobs`; the keys are
 * their names in the log.
 */
export function createAuth(options: AuthOptions) {
  const { config, store, secretKey, mailer, publicUrl, servers, identityProviders, clock, deletionMs, log } = options
  const authenticator = new Authenticator({ tokens: store.tokens, grants: store.grants, source: store, clock, log })
  const audit = new Audit({ rows: store.audit, clock, deletionMs, log, retentionDays: config.auditDays })
  const passwords = new PasswordQueue()
  const limits = new RateLimits({
    apiPerMinute: config.rateLimit,
    tokenPerMinute: config.tokenRateLimit,
    servers,
    deviceRates: servers && store.eventRates,
    clock,
  })
  const devices = new KnownDevices(secretKey.deriveKey('known devices'), clock)
  const login = new Login({
    users: store.users,
    failures: store.failures,
    passwords,
    devices,
    audit,
    clock,
    log,
  })
  const ageLimitMs = findSessionAgeLimitMs(config)
  const sessions = new Sessions({ rows: store.sessions, clock, deletionMs, log, ageLimitMs })
  const accounts = createAccounts({
    store,
    login,
    passwords,
    mailer,
    audit,
    clock,
    deletionMs,
    log,
    randomBytes,
    publicUrl,
    servers,
    signUp: config.signUp,
    guestsAddCameras: config.guestsAddCameras,
  })
  const secondFactors = new SecondFactorService({
    store,
    devices,
    audit,
    clock,
    randomBytes,
    publicUrl,
    challengeKey: secretKey.deriveKey('passkey challenges'),
    handleKey: secretKey.deriveKey('passkey user handles'),
    notify: (notice) => accounts.notices.secondFactor(notice),
  })
  const oauth = createOAuth({
    store,
    login,
    isSecondFactorMissing: (user) => secondFactors.isMissing(user),
    audit,
    clock,
    deletionMs,
    log,
    publicUrl,
    randomBytes,
    policy: createOAuthPolicy(config),
    onReuse: (notice) => accounts.notices.reuse(notice),
  })
  const longPaths = new LongPaths({ rows: store.keptValues, key: secretKey.deriveKey('long paths'), clock })
  const providers = new ProviderService({
    longPaths,
    clients: identityProviders,
    store,
    audit,
    notify: (notice) => accounts.notices.identity(notice),
    signUp: config.signUp,
    keys: { begun: secretKey.deriveKey('begun sign-ins'), found: secretKey.deriveKey('found accounts') },
    clock,
  })
  return {
    authenticator,
    audit,
    passwords,
    limits,
    login,
    ...createCredentialParts({ store, authenticator, accounts, limits, audit, clock, log }),
    sessions,
    accounts,
    secondFactors,
    providers,
    oauth,
    mediaTokens: new MediaTokens(secretKey.deriveKey('media tokens'), clock),
    returnToKey: secretKey.deriveKey('return to'),
    pendingKey: secretKey.deriveKey('pending steps'),
    longPaths,
    sharedAnswers: servers && { rows: store.keptValues, key: secretKey.deriveKey('repeated requests') },
    tasks: {
      'last use of tokens': (signal: AbortSignal) => authenticator.run(signal),
      'audit log': (signal: AbortSignal) => audit.run(signal),
    },
    jobs: {
      'expiry of sessions': (signal: AbortSignal) => sessions.run(signal),
      'expiry of used values': (signal: AbortSignal) =>
        repeat(() => store.usedValues.deleteExpired(deletionMs()), { clock, signal, intervalMs: usedIntervalMs }),
      'expiry of kept values': (signal: AbortSignal) =>
        repeat(() => store.keptValues.deleteExpired(deletionMs()), { clock, signal, intervalMs: usedIntervalMs }),
      'expiry of failed attempts': (signal: AbortSignal) =>
        repeat(() => store.failures.deleteExpired(deletionMs()), { clock, signal, intervalMs: usedIntervalMs }),
      'expiry of tokens': (signal: AbortSignal) => oauth.run(signal),
      'expiry of links': (signal: AbortSignal) => accounts.run(signal),
    },
  }
}
