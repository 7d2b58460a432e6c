// From an Authorization header to the caller. Answers from memory while the store does not change; what is kept there
// is no credential.

import { hash } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { repeat } from '../base/repeat.ts'
import { expandScopes } from '../model/access.ts'
import type { Grants } from '../store/accounts/grants.ts'
import type { Tokens } from '../store/accounts/tokens.ts'
import { VersionedCache, type VersionedSource } from '../store/engine/versioned-cache.ts'
import { type Caller, type Credential, UnauthenticatedError } from './caller.ts'
import { hashToken } from './checked-token.ts'
import { needsPassword } from './oauth/dashboard-client.ts'
import { isOAuthSecret } from './oauth/oauth-secrets.ts'
import { isChecksumValid, looksPersonal } from './personal-token.ts'

const lastUsedIntervalMs = 60_000
const never = Number.POSITIVE_INFINITY

/** What of the store's tokens is needed here. */
type TokenRows = Pick<Tokens, 'findLiveByHash' | 'findLive' | 'hasUncheckable' | 'setLastUsed'>

/** What of the store's grants is needed here. */
type GrantRows = Pick<Grants, 'findLiveAccess' | 'findEndMs' | 'setLastUsed'>

export type AuthenticatorOptions = {
  readonly tokens: TokenRows
  readonly grants: GrantRows
  /** The store: what was read of it holds while its version stays. */
  readonly source: VersionedSource
  readonly clock: Clock
  readonly log: Logger
}

/** A caller, and until when the store need not change for their credentials to end. */
type Known = { readonly caller: Caller; readonly expiresAtMs: number }

/** Credential's id to time of last use. */
type LastUsed = { readonly [Kind in Credential['kind']]: Map<number, number> }

export class Authenticator {
  readonly #tokens: TokenRows
  readonly #grants: GrantRows
  readonly #clock: Clock
  readonly #log: Logger
  /** By the SHA-256 of the header: a dump of the memory holds no tokens of those who called before. */
  readonly #callers: VersionedCache<string, Known>
  /** Until when each credential lasts; 0 for one that has ended. */
  readonly #ends: VersionedCache<string, number>
  readonly #keys = new LastKeys()
  readonly #facts: VersionedCache<'hasUncheckable', boolean>
  #lastUsed = createLastUsed()

  constructor({ tokens, grants, source, clock, log }: AuthenticatorOptions) {
    this.#tokens = tokens
    this.#grants = grants
    this.#clock = clock
    this.#log = log
    this.#callers = new VersionedCache(source, { maxEntries: 10_000 })
    this.#ends = new VersionedCache(source, { maxEntries: 10_000 })
    this.#facts = new VersionedCache(source, { maxEntries: 1 })
  }

  /**
   * At once for a caller seen since the store last changed, else a promise. Throws or rejects with
   * `UnauthenticatedError`.
   */
  authenticate(authorization: string | undefined): Caller | Promise<Caller> {
    if (authorization === undefined) throw new UnauthenticatedError('no credentials were sent')
    const key = keyOf(authorization)
    const known = this.#callers.get(key)
    return known ? this.#admit(known) : this.#load(key, authorization)
  }

  /**
   * Like `authenticate`, for callers that it would return without waiting; undefined for all others and for expired
   * credentials. Programs send the same header over a connection again and again, so it is hashed once per connection.
   */
  findKnown(authorization: string, connection: object): Caller | undefined {
    const known = this.#callers.get(this.#keys.get(authorization, connection))
    return known && this.#clock.nowMs() < known.expiresAtMs ? this.#admit(known) : undefined
  }

  /** Whether what a signed URL was answered to, or a stream opened with, may still be used. */
  isLive({ kind, id }: Credential): boolean | Promise<boolean> {
    const key = `${kind} ${id}`
    const endMs = this.#ends.get(key)
    if (endMs !== undefined) return this.#clock.nowMs() < endMs
    return this.#ends.load(key, () => this.#readEnd(kind, id)).then((read) => this.#clock.nowMs() < read)
  }

  /** Writes the times of last use each minute, and once more when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const write = () => this.#writeLastUsed()
    await repeat(write, { clock: this.#clock, signal, intervalMs: lastUsedIntervalMs, isDelayed: true })
    await write()
  }

  #admit({ caller, expiresAtMs }: Known): Caller {
    const nowMs = this.#clock.nowMs()
    const { kind, id } = caller.credential
    if (nowMs >= expiresAtMs)
      throw new UnauthenticatedError('the token has expired', { hasBearerToken: kind === 'grant' })
    this.#lastUsed[kind].set(id, nowMs)
    return caller
  }

  async #load(key: string, authorization: string): Promise<Caller> {
    return this.#admit(await this.#callers.load(key, () => this.#read(authorization)))
  }

  async #read(authorization: string): Promise<Known> {
    const [, scheme, value] = /^(\S+) +(\S+)$/.exec(authorization.trim()) ?? []
    switch (scheme?.toLowerCase()) {
      case 'personalaccesstoken':
        return this.#readPersonal(value!)
      case 'bearer':
        return this.#readBearer(value!)
      default:
        throw new UnauthenticatedError('the Authorization header is of an unknown form')
    }
  }

  async #readPersonal(value: string): Promise<Known> {
    if (looksPersonal(value) && !isChecksumValid(value) && !(await this.#hasUncheckable())) {
      throw new UnauthenticatedError('the personal access token is mistyped')
    }
    const token = await this.#tokens.findLiveByHash(hashToken(value))
    if (!token) throw new UnauthenticatedError('the personal access token is unknown, revoked or of a disabled account')
    const { id, userId, scopes, credentialsVersion } = token
    const credential: Credential = { kind: 'personal', id }
    return {
      caller: { userId, credentialsVersion, scopes: expandScopes(scopes), credential },
      expiresAtMs: token.expiresAtMs ?? never,
    }
  }

  async #readBearer(value: string): Promise<Known> {
    const access = isOAuthSecret('access', value) ? await this.#grants.findLiveAccess(hashToken(value)) : undefined
    if (!access) throw new UnauthenticatedError('the bearer token is unknown or has ended', { hasBearerToken: true })
    const { grantId, userId, credentialsVersion, applicationId, scopes, expiresAtMs, isBuiltIn } = access
    const credential: Credential = { kind: 'grant', id: grantId }
    const caller: Caller = {
      ...{ userId, credentialsVersion, scopes: expandScopes(scopes), credential, applicationId },
      ...(isBuiltIn && needsPassword(access) && { hasGivenPassword: true }),
    }
    return { caller, expiresAtMs }
  }

  async #readEnd(kind: Credential['kind'], id: number): Promise<number> {
    if (kind === 'grant') return (await this.#grants.findEndMs(id)) ?? 0
    const token = await this.#tokens.findLive(id)
    return token ? (token.expiresAtMs ?? never) : 0
  }

  /** A value brought from elsewhere may happen to look like ours; only then is a wrong checksum no proof. */
  #hasUncheckable(): Promise<boolean> {
    return this.#facts.load('hasUncheckable', () => this.#tokens.hasUncheckable())
  }

  async #writeLastUsed(): Promise<void> {
    const times = this.#lastUsed
    this.#lastUsed = createLastUsed()
    try {
      await this.#tokens.setLastUsed(times.personal)
      await this.#grants.setLastUsed(times.grant)
    } catch (error) {
      this.#log.warn({ reason: errorChain(error) }, 'times of last use could not be written')
    }
  }
}

/** A character for each byte, which is quicker to look up than other forms. */
/** The key of the last header of each connection, which holds that header anyway. */
class LastKeys {
  readonly #last = new WeakMap<object, { readonly authorization: string; readonly key: string }>()

  get(authorization: string, connection: object): string {
    const last = this.#last.get(connection)
    if (last?.authorization === authorization) return last.key
    const key = keyOf(authorization)
    this.#last.set(connection, { authorization, key })
    return key
  }
}

function keyOf(authorization: string): string {
  return hash('sha256', authorization, 'binary')
}

function createLastUsed(): LastUsed {
  return { personal: new Map(), grant: new Map() }
}
