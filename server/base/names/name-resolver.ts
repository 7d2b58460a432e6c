// Resolves host names: the hosts file first, then DNS servers through c-ares, with the system's search domains. It does
// not use `dns.lookup`, which blocks one of libuv's threads for as long as a DNS server is silent; file access and
// password hashing need those threads. Here a lookup needs no thread, ends at its deadline, and the lookups per account
// are limited.

import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import process from 'node:process'
import { type Clock, systemClock } from '../clock.ts'
import { withDeadline } from '../deadline.ts'
import { AppError } from '../error.ts'
import { FairSemaphore } from '../fair-semaphore.ts'
import { pause } from '../pause.ts'
import { isLocalhost, readAddressLiteral } from './address-literal.ts'
import { parseHostsFile } from './hosts-file.ts'
import { hasOtherSources, listCandidates, parseResolverSettings, type ResolverSettings } from './resolver-settings.ts'
import { WatchedFile } from './watched-file.ts'

export type FoundAddress = { readonly address: string; readonly family: number }

export type LookupOptions = {
  /**
   * The account on whose behalf the name is resolved, which has a share of the concurrent lookups; undefined for the
   * server itself.
   */
  readonly account?: number | undefined
  /** Aborts the lookup. */
  readonly signal?: AbortSignal | undefined
}

export type NameResolverOptions = {
  readonly clock?: Clock
  /** DNS servers in the format of `dns.setServers`; defaults to those of the system. */
  readonly servers?: readonly string[] | undefined
  readonly limits?: Partial<NameResolverLimits>
  readonly files?: Partial<typeof systemFiles>
  /** Also ask the system for names ending in `.local`; defaults to true if it knows more than files and DNS servers. */
  readonly asksSystem?: boolean
}

export type NameResolverLimits = {
  /** Concurrent lookups, per account and in total. */
  readonly ofAccount: number
  readonly inAll: number
  /** Waiting lookups per account. */
  readonly waitingOfAccount: number
  /** Deadline of a lookup, not counting its wait. */
  readonly totalMs: number
}

const usualLimits: NameResolverLimits = { ofAccount: 8, inAll: 64, waitingOfAccount: 2000, totalMs: 10_000 }

const systemFiles = { hosts: '/etc/hosts', resolver: '/etc/resolv.conf', switch: '/etc/nsswitch.conf' }

/** Extra time for IPv6 addresses once those of IPv4 are known: some DNS servers never answer for IPv6. */
const otherFamilyMs = 500

/** Errors about this name only; the next search domain may contain it. */
const passingCodes: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'EBADNAME'])
const unknownCodes: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ENONAME'])

/** The maximum length of a name (RFC 1035, section 2.3.4). */
const maxNameLength = 254

export class NameResolver {
  readonly #clock: Clock
  readonly #servers: readonly string[] | undefined
  readonly #limits: NameResolverLimits
  readonly #asksSystem: boolean | undefined
  readonly #semaphore: FairSemaphore<number | undefined>
  /** The system blocks a thread per name, even past its deadline. */
  readonly #systemSemaphore: FairSemaphore<number | undefined>
  readonly #hosts: WatchedFile<ReturnType<typeof parseHostsFile>>
  readonly #settings: WatchedFile<ResolverSettings>
  readonly #others: WatchedFile<boolean>

  constructor({ clock = systemClock, servers, limits, files, asksSystem }: NameResolverOptions = {}) {
    this.#clock = clock
    this.#servers = servers
    this.#limits = { ...usualLimits, ...limits }
    this.#asksSystem = asksSystem
    const { ofAccount, inAll, waitingOfAccount } = this.#limits
    const refusal = 'too many names are being looked up'
    this.#semaphore = new FairSemaphore({
      maxRunning: inAll,
      maxRunningOfOne: ofAccount,
      maxWaitingOfOne: waitingOfAccount,
      refusal,
    })
    this.#systemSemaphore = new FairSemaphore({
      maxRunning: 1,
      maxRunningOfOne: 1,
      maxWaitingOfOne: waitingOfAccount,
      refusal,
    })
    const { hosts, resolver, switch: nameSwitch } = { ...systemFiles, ...files }
    this.#hosts = new WatchedFile(hosts, parseHostsFile, clock)
    this.#settings = new WatchedFile(resolver, (text) => parseResolverSettings(text, process.env), clock)
    this.#others = new WatchedFile(nameSwitch, hasOtherSources, clock)
  }

  /** Lookups that run and wait, and how many were refused. */
  stats(): { readonly running: number; readonly waiting: number; readonly refused: number } {
    return this.#semaphore.stats()
  }

  /**
   * All addresses of a host, at least one. @throws AppError 'unavailable' if there is none, no DNS server answers in
   * time, or too many lookups are running; the signal's reason if it aborts
   */
  async lookup(host: string, { account, signal }: LookupOptions = {}): Promise<readonly FoundAddress[]> {
    const literal = readAddressLiteral(host)
    if (literal !== undefined) return [toFound(literal)]
    const known = (await this.#hosts.read()).get(host.toLowerCase().replace(/\.$/, ''))
    if (known) return known.map(toFound)
    if (isLocalhost(host, { isBelow: true })) return ['127.0.0.1', '::1'].map(toFound)
    if (host === '' || host.length > maxNameLength || /\s/.test(host)) throw describeUnknown(host)
    return this.#semaphore.run(account, () => this.#lookupInTime(host, account, signal), signal)
  }

  async #lookupInTime(host: string, account: number | undefined, signal: AbortSignal | undefined) {
    const done = new AbortController()
    const stopped = signal ? AbortSignal.any([signal, done.signal]) : done.signal
    const options = { ms: this.#limits.totalMs, clock: this.#clock, signal, onLate: () => describeLate(host) }
    try {
      return await withDeadline(this.#find(host, account, stopped), options)
    } finally {
      done.abort()
    }
  }

  async #find(host: string, account: number | undefined, signal: AbortSignal): Promise<readonly FoundAddress[]> {
    if (/\.local\.?$/i.test(host) && (await this.#isSystemAsked())) return this.#askSystem(host, account, signal)
    const settings = await this.#settings.read()
    let failure: unknown
    for (const name of listCandidates(host, settings)) {
      try {
        return await this.#ask(name, settings, signal)
      } catch (error) {
        signal.throwIfAborted()
        const code = codeOf(error)
        // A server error is more informative than "not found" in another domain.
        if (failure === undefined || !unknownCodes.has(code)) failure = error
        if (!passingCodes.has(code)) break
      }
    }
    throw unknownCodes.has(codeOf(failure)) ? describeUnknown(host, failure) : describeFailure(host, failure)
  }

  /** Resolves both address families of a full name. */
  async #ask(name: string, { timeoutMs, tries }: ResolverSettings, signal: AbortSignal): Promise<FoundAddress[]> {
    signal.throwIfAborted()
    // One resolver per name: it reads the current DNS servers, and canceling it ends only this lookup.
    const resolver = new Resolver({ timeout: timeoutMs, tries })
    if (this.#servers) resolver.setServers(this.#servers)
    const cancel = () => resolver.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    const over = new AbortController()
    try {
      const first = resolver.resolve4(name).then((list) => list.map(toFound))
      const second = resolver.resolve6(name).then((list) => list.map(toFound))
      const patience = first.then(
        () => pause(this.#clock, otherFamilyMs, over.signal).then(() => []),
        () => second,
      )
      const [ofFirst, ofSecond] = await Promise.allSettled([first, Promise.race([second, patience])])
      const found = [ofFirst, ofSecond].flatMap((settled) => (settled.status === 'fulfilled' ? settled.value : []))
      if (found.length > 0) return found
      const reasons = [ofFirst, ofSecond].flatMap((settled) => (settled.status === 'rejected' ? [settled.reason] : []))
      throw reasons.find((reason) => !unknownCodes.has(codeOf(reason))) ?? reasons[0]
    } finally {
      over.abort()
      signal.removeEventListener('abort', cancel)
      resolver.cancel()
    }
  }

  async #isSystemAsked(): Promise<boolean> {
    return this.#asksSystem ?? (process.platform === 'darwin' || (await this.#others.read()))
  }

  /**
   * One at a time, and the slot is held as long as the thread: names on the local network must not use up the threads
   * that files need.
   */
  async #askSystem(host: string, account: number | undefined, signal: AbortSignal): Promise<readonly FoundAddress[]> {
    const stopped = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    stopped.catch(() => {})
    const asked = this.#systemSemaphore.run(account, () => lookup(host, { all: true, order: 'verbatim' }), signal)
    asked.catch(() => {})
    return Promise.race([asked, stopped]).catch((error) => {
      signal.throwIfAborted()
      throw error instanceof AppError ? error : describeUnknown(host, error)
    })
  }
}

function toFound(address: string): FoundAddress {
  return { address, family: isIP(address.replace(/%.*$/, '')) === 6 ? 6 : 4 }
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | undefined)?.code
}

function describeUnknown(host: string, cause?: unknown): AppError {
  return new AppError('unavailable', `the host name ${quote(host)} is not known`, { cause })
}

function describeFailure(host: string, cause: unknown): AppError {
  if (codeOf(cause) === 'ETIMEOUT') return describeLate(host, cause)
  return new AppError('unavailable', `the DNS servers failed to resolve ${quote(host)}`, { cause })
}

function describeLate(host: string, cause?: unknown): AppError {
  return new AppError('unavailable', `no DNS server resolved ${quote(host)} in time`, { cause })
}

function quote(host: string): string {
  return JSON.stringify(host.slice(0, 100))
}
