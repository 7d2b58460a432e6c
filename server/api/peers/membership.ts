// A server among those of its database: it registers under its name, reports that it is alive, and knows the others. How
// each is reached, and which one has the cameras, is in their rows.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { repeat } from '../../base/repeat.ts'
import { type PeerAddress, parsePeerAddress } from '../../model/peer-address.ts'
import type { NewNode, Node, Nodes } from '../../store/server/nodes.ts'

export type MembershipOptions = {
  readonly rows: Nodes
  readonly self: Omit<NewNode, 'incarnation'>
  readonly clock: Clock
  readonly log: Logger
}

/** A server that has not reported for so long counts as gone. */
const lastsMs = 8000
const reportIntervalMs = 2000
/** Times are compared between servers: of tokens, recordings and events. */
const maxClockErrorMs = 1000
/** Rows of servers that are gone are kept for so long, for whoever looks for them. */
const rememberedMs = 24 * 3_600_000

/** A server that can be asked. */
export type Peer = { readonly name: string; readonly address: PeerAddress }

export class Membership implements AsyncDisposable {
  readonly #options: MembershipOptions
  readonly #self: NewNode
  readonly #lost = Promise.withResolvers<AppError>()
  #all: readonly Node[] = []
  #said = ''

  /**
   * Throws 'conflict' if a server of this name is alive, and 'invalid' if the machine's clock and that of the database
   * differ.
   */
  static async join(options: MembershipOptions): Promise<Membership> {
    const { rows, clock } = options
    const sentMs = clock.nowMs()
    const databaseMs = await rows.clockMs()
    const errorMs = databaseMs < sentMs ? databaseMs - sentMs : Math.max(0, databaseMs - clock.nowMs())
    if (Math.abs(errorMs) > maxClockErrorMs) throw createClockError(errorMs)
    const membership = new Membership(options)
    await membership.#add()
    await rows.removeGone(rememberedMs)
    await membership.#read()
    return membership
  }

  private constructor(options: MembershipOptions) {
    this.#options = options
    this.#self = { ...options.self, incarnation: randomBytes(8).toString('hex') }
  }

  /** Resolves when another server has taken the name of this one. */
  get lost(): Promise<AppError> {
    return this.#lost.promise
  }

  /** How many servers answer; at least 1. */
  get size(): number {
    return Math.max(1, this.#all.filter(({ isAlive }) => isAlive).length)
  }

  /** Another server, while it is alive and can be asked. */
  find(name: string): Peer | undefined {
    if (name === this.#self.name) return undefined
    const found = this.#all.find((each) => each.name === name && each.isAlive)
    return found && toPeer(found)
  }

  /** Undefined if none is alive that can be asked. */
  get cameraServerName(): string | undefined {
    return this.#all.find(({ hasCameras, isAlive, address }) => hasCameras && isAlive && address !== null)?.name
  }

  /** Throws 'unavailable'. While the database is away, what was known last. */
  findCameraServer(): Peer {
    const found = this.#all.find(({ hasCameras, isAlive }) => hasCameras && isAlive)
    if (!found) throw new AppError('unavailable', 'the server with the cameras is not running')
    const peer = toPeer(found)
    if (!peer)
      throw new AppError('unavailable', `the server with the cameras, ${found.name}, needs the option peer-address`)
    return peer
  }

  run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    let isFailing = false
    const report = async () => {
      try {
        if (!(await this.#options.rows.renew(this.#self, lastsMs))) await this.#add()
        await this.#read()
        if (isFailing) log.info({}, 'this server reports again that it is alive')
        isFailing = false
      } catch (error) {
        if (error instanceof AppError && error.kind === 'conflict') this.#lost.resolve(error)
        else if (!isFailing) log.warn({ error: errorChain(error) }, 'this server cannot report that it is alive')
        isFailing = true
      }
    }
    return repeat(report, { clock, signal, intervalMs: reportIntervalMs, isDelayed: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { rows, log } = this.#options
    await rows.remove(this.#self).catch((error) => {
      log.warn({ error: errorChain(error) }, 'this server could not sign off; others count it as gone in seconds')
    })
  }

  async #add(): Promise<void> {
    const { rows } = this.#options
    if (await rows.add(this.#self, lastsMs)) return
    const { name } = this.#self
    const other = (await rows.list()).find((node) => node.name === name)
    const where = other ? `, ${other.holder}` : ''
    throw new AppError('conflict', `another server is called ${name}${where}: give this one another --node-name`)
  }

  async #read(): Promise<void> {
    this.#all = await this.#options.rows.list()
    const others = this.#all.filter(({ name, isAlive }) => isAlive && name !== this.#self.name)
    const said = others.map(({ name, hasCameras }) => (hasCameras ? `${name} with the cameras` : name)).join(', ')
    if (said === this.#said) return
    this.#said = said
    this.#options.log.info({ servers: said }, 'the other servers of the database')
  }
}

/** Undefined if others cannot ask it. */
export function toPeer({ name, address: text }: Pick<Node, 'name' | 'address'>): Peer | undefined {
  const address = text === null ? undefined : parsePeerAddress(text)
  return address && { name, address }
}

function createClockError(errorMs: number): AppError {
  const seconds = Math.abs(errorMs / 1000).toFixed(1)
  const relation = errorMs > 0 ? 'behind' : 'ahead of'
  return new AppError(
    'invalid',
    `the clock of this machine is ${seconds} s ${relation} that of the database: synchronize both, for instance with chrony`,
  )
}
