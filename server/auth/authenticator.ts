// Finds the caller of an Authorization header. Results are cached while the store does not change. The cache contains
// no credentials.

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

/** The part of the token table that is needed here. */
type TokenRows = Pick<Tokens, 'findLiveByHash' | 'findLive' | 'hasUncheckable' | 'setLastUsed'>

/** The part of the grant table that is needed here. */
type GrantRows = Pick<Grants, 'findLiveAccess' | 'findEndMs' | 'setLastUsed'>

export type AuthenticatorOptions = {
  readonly tokens: TokenRows
  readonly grants: GrantRows
  /** The store. Cached results are valid as long as its version stays the same. */
  readonly source: VersionedSource
  readonly clock: Clock
  readonly log: Logger
}

/** A caller, and the time at which their credentials expire by themselves. */
type Known = { readonly caller: Caller; readonly expiresAtMs: number }

/** Maps ids of credentials to the times of their last use. */
type LastUsed = { readonly [Kind in Credential['kind']]: Map<number, number> }

export class Authenticator {
  readonly #tokens: TokenRows
  readonly #grants: GrantRows
  readonly #clock: Clock
  readonly #log: Logger
  /** Keyed by the SHA-256 of the header, so that a memory dump contains no tokens of earlier callers. */
  readonly #callers: VersionedCache<string, Known>
  /** When each credential expires; 0 if it has been revoked. */
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
   * Returns at once for a caller that was seen since the store last changed, otherwise a promise. Throws or rejects
   * with `UnauthenticatedError`.
   */
  authenticate(authorization: string | undefined): Caller | Promise<Caller> {
    if (authorization === undefined) throw new UnauthenticatedError('no credentials were sent')
    const key = keyOf(authorization)
    const known = this.#callers.get(key)
    return known ? this.#admit(known) : this.#load(key, authorization)
  }

  /**
   * Like `authenticate`, but returns undefined for callers that are not cached and for expired credentials. Clients
   * send the same header over a connection again and again, so it is hashed once per connection.
   */
  findKnown(authorization: string, connection: object): Caller | undefined {
    const known = this.#callers.get(this.#keys.get(authorization, connection))
    return known && this.#clock.nowMs() < known.expiresAtMs ? this.#admit(known) : undefined
  }

  /** True if the credential that a signed URL was issued for, or a stream was opened with, is still valid. */
  isLive({ kind, id }: Credential): boolean | Promise<boolean> {
    const key = `${kind} ${id}`
    const endMs = this.#ends.get(key)
    if (endMs !== undefined) return this.#clock.nowMs() < endMs
    return this.#ends.load(key, () => this.#readEnd(kind, id)).then((read) => this.#clock.nowMs() < read)
  }

  /** Saves the times of last use every minute, and once more when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const write = () => this.#writeLastUsed()
    await repeat(write, { clock: this.#clock, signal, intervalMs: lastUsedIntervalMs, isDelayed: true })
    await write()
  }

  #admit({ caller, expiresAtMs }: Known): Caller {
    const nowMs = this.#clock.nowMs()
    const { kind, id } = caller.credential
    if (nowMs >= expiresAtMs)
      throw new UnauthenticatedError('the token has expired', kind === 'grant' ? 'bearer' : 'personal')
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
        throw new UnauthenticatedError('the Authorization header has an unknown format')
    }
  }

  async #readPersonal(value: string): Promise<Known> {
    if (looksPersonal(value) && !isChecksumValid(value) && !(await this.#hasUncheckable())) {
      throw new UnauthenticatedError('the checksum of the personal access token is wrong', 'personal')
    }
    const token = await this.#tokens.findLiveByHash(hashToken(value))
    if (!token)
      throw new UnauthenticatedError(
        'the personal access token is unknown or revoked, or its account is disabled',
        'personal',
      )
    const { id, userId, scopes, credentialsVersion } = token
    const credential: Credential = { kind: 'personal', id }
    return {
      caller: { userId, credentialsVersion, scopes: expandScopes(scopes), credential },
      expiresAtMs: token.expiresAtMs ?? never,
    }
  }

  async #readBearer(value: string): Promise<Known> {
    const access = isOAuthSecret('access', value) ? await this.#grants.findLiveAccess(hashToken(value)) : undefined
    if (!access) throw new UnauthenticatedError('the bearer token is unknown or no longer valid', 'bearer')
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

  /** Imported tokens may look like ours by chance. Only if there are none does a wrong checksum prove anything. */
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
      this.#log.warn({ reason: errorChain(error) }, 'the times of last use could not be saved')
    }
  }
}

/** One character per byte is faster to look up than other encodings. */
/** The key of the last header of each connection. The connection holds that header anyway. */
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
