// From an Authorization header to the caller. Answers from memory while the store does not change.

import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { expandScopes } from '../model/access.ts'
import type { Tokens } from '../store/tokens.ts'
import { VersionedCache, type VersionedSource } from '../store/versioned-cache.ts'
import { type Caller, type Credential, UnauthenticatedError } from './caller.ts'
import { hashToken, isChecksumValid, looksPersonal } from './personal-token.ts'

const lastUsedIntervalMs = 60_000

/** What of the store's tokens is needed here. */
type TokenRows = Pick<Tokens, 'findLiveByHash' | 'findLive' | 'hasUncheckable' | 'setLastUsed'>

export type AuthenticatorOptions = {
  readonly tokens: TokenRows
  /** The store: what was read of it holds while its version stays. */
  readonly source: VersionedSource
  readonly clock: Clock
  readonly log: Logger
}

export class Authenticator {
  readonly #tokens: TokenRows
  readonly #clock: Clock
  readonly #log: Logger
  readonly #callers: VersionedCache<string, Caller>
  readonly #live: VersionedCache<string, boolean>
  readonly #facts: VersionedCache<'hasUncheckable', boolean>
  #lastUsed = new Map<number, number>()

  constructor({ tokens, source, clock, log }: AuthenticatorOptions) {
    this.#tokens = tokens
    this.#clock = clock
    this.#log = log
    this.#callers = new VersionedCache(source, { maxEntries: 10_000 })
    this.#live = new VersionedCache(source, { maxEntries: 10_000 })
    this.#facts = new VersionedCache(source, { maxEntries: 1 })
  }

  /** At once for a caller seen since the store last changed, else a promise. Throws or rejects with `UnauthenticatedError`. */
  authenticate(authorization: string | undefined): Caller | Promise<Caller> {
    if (authorization === undefined) throw new UnauthenticatedError('no credentials were sent')
    const known = this.#callers.get(authorization)
    if (!known) return this.#load(authorization)
    this.#lastUsed.set(known.credential.id, this.#clock.nowMs())
    return known
  }

  /** Whether what a signed URL was answered to, or a stream opened with, may still be used. */
  isLive({ kind, id }: Credential): boolean | Promise<boolean> {
    const key = `${kind} ${id}`
    const read = async () => kind === 'personal' && (await this.#tokens.findLive(id)) !== undefined
    return this.#live.get(key) ?? this.#live.load(key, read)
  }

  /** Writes the times of last use each minute, and once more when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(lastUsedIntervalMs, signal).catch(() => {})
      await this.#writeLastUsed()
    }
  }

  async #load(authorization: string): Promise<Caller> {
    const caller = await this.#callers.load(authorization, () => this.#read(authorization))
    this.#lastUsed.set(caller.credential.id, this.#clock.nowMs())
    return caller
  }

  async #read(authorization: string): Promise<Caller> {
    const [, scheme, value] = /^(\S+) +(\S+)$/.exec(authorization.trim()) ?? []
    switch (scheme?.toLowerCase()) {
      case 'personalaccesstoken':
        return this.#readPersonal(value!)
      case 'bearer':
        throw new UnauthenticatedError('the bearer token is unknown', { hasBearerToken: true })
      default:
        throw new UnauthenticatedError('the Authorization header is of an unknown form')
    }
  }

  async #readPersonal(value: string): Promise<Caller> {
    if (looksPersonal(value) && !isChecksumValid(value) && !(await this.#hasUncheckable())) {
      throw new UnauthenticatedError('the personal access token is mistyped')
    }
    const token = await this.#tokens.findLiveByHash(hashToken(value))
    if (!token) throw new UnauthenticatedError('the personal access token is unknown, revoked or of a disabled account')
    return { userId: token.userId, scopes: expandScopes(token.scopes), credential: { kind: 'personal', id: token.id } }
  }

  /** A value brought from elsewhere may happen to look like ours; only then is a wrong checksum no proof. */
  #hasUncheckable(): Promise<boolean> {
    return this.#facts.load('hasUncheckable', () => this.#tokens.hasUncheckable())
  }

  async #writeLastUsed(): Promise<void> {
    const times = this.#lastUsed
    this.#lastUsed = new Map()
    try {
      await this.#tokens.setLastUsed(times)
    } catch (error) {
      this.#log.warn({ reason: errorChain(error) }, 'times of last use could not be written')
    }
  }
}
