// A server among those of its database: it registers under its name, reports that it is alive, and knows the others. How
// each is reached, and which one has the cameras, is in their rows.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { repeat } from '../../base/repeat.ts'
import type { CameraLease } from '../../model/camera-lease.ts'
import { type PeerAddress, parsePeerAddress } from '../../model/peer-address.ts'
import type { Leases } from '../../store/server/leases.ts'
import type { NewNode, Node, Nodes } from '../../store/server/nodes.ts'

export type MembershipOptions = {
  readonly rows: Nodes
  readonly leases: Pick<Leases, 'list'>
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
  #leases: ReadonlyMap<number, CameraLease> = new Map()
  #said = ''
  #steadySinceMs: number

  /**
   * Throws 'conflict' if a server of this name is alive, or others with cameras cannot be asked, and 'invalid' if the
   * machine's clock and that of the database differ.
   */
  static async join(options: MembershipOptions): Promise<Membership> {
    const { rows, clock } = options
    const sentMs = clock.nowMs()
    const databaseMs = await rows.clockMs()
    const errorMs = databaseMs < sentMs ? databaseMs - sentMs : Math.max(0, databaseMs - clock.nowMs())
    if (Math.abs(errorMs) > maxClockErrorMs) throw createClockError(errorMs)
    const membership = new Membership(options)
    await membership.#checkAddresses()
    await membership.#add({ isStart: true })
    await rows.removeGone(rememberedMs)
    await membership.#read()
    return membership
  }

  private constructor(options: MembershipOptions) {
    this.#options = options
    this.#self = { ...options.self, incarnation: randomBytes(8).toString('hex') }
    this.#steadySinceMs = options.clock.monotonicMs()
  }

  /** Resolves when another server has taken the name of this one. */
  get lost(): Promise<AppError> {
    return this.#lost.promise
  }

  /** How many servers answer; at least 1. */
  get size(): number {
    return Math.max(1, this.#all.filter(({ isAlive }) => isAlive).length)
  }

  get self(): Pick<NewNode, 'name' | 'incarnation'> {
    return this.#self
  }

  /** This one, as others ask it; undefined if they cannot. */
  get own(): Peer | undefined {
    return toPeer(this.#self)
  }

  /** Those that are alive and have cameras, or may have. This one is, whatever its row says when the database was away. */
  get withCameras(): Node[] {
    const { incarnation: own } = this.#self
    return this.#all.filter(({ hasCameras, isAlive, incarnation }) => hasCameras && (isAlive || incarnation === own))
  }

  /** Whether the server with this incarnation counts as alive. */
  isAlive(incarnation: string): boolean {
    return this.#all.some((each) => each.incarnation === incarnation && each.isAlive)
  }

  /**
   * True once this server has reported without a break for as long as a server counts as alive after its last report. When
   * the database was away, others need that time to report again.
   */
  get isSteady(): boolean {
    return this.#options.clock.monotonicMs() - this.#steadySinceMs >= lastsMs
  }

  /** Another server, while it is alive and can be asked. */
  find(name: string): Peer | undefined {
    if (name === this.#self.name) return undefined
    const found = this.#all.find((each) => each.name === name && each.isAlive)
    return found && toPeer(found)
  }

  /**
   * The server that has the camera, or 'this'. A camera that no server has ever had is that of any server with cameras.
   * Undefined while none is alive that has it, and can be asked.
   */
  findOwner(cameraId: number): Peer | 'this' | undefined {
    const lease = this.#leases.get(cameraId)
    const isOwner = (node: Node) => (lease ? node.incarnation === lease.incarnation : node.hasCameras)
    if (lease ? lease.incarnation === this.#self.incarnation : this.#self.hasCameras) return 'this'
    const owner = this.#all.find((node) => node.isAlive && isOwner(node))
    return owner && toPeer(owner)
  }

  /** Of the lease that the camera is or was under; undefined if no server has ever had it. */
  findEpoch(cameraId: number): number | undefined {
    return this.#leases.get(cameraId)?.epoch
  }

  /** Call it when cameras have changed hands. Throws the database's errors. */
  async readLeases(): Promise<void> {
    const leases = await this.#options.leases.list()
    const isKnown = (incarnation: string) => this.#all.some((node) => node.incarnation === incarnation)
    // A server that has come since takes cameras at once.
    if (leases.some(({ isHeld, incarnation }) => isHeld && !isKnown(incarnation)))
      this.#all = await this.#options.rows.list()
    this.noteLeases(leases)
  }

  noteLeases(leases: Iterable<CameraLease>): void {
    this.#leases = new Map([...leases].map((lease) => [lease.cameraId, lease]))
  }

  /** Any that has cameras. Throws 'unavailable'. While the database is away, what was known last. */
  findCameraServer(): Peer {
    const found = this.#all.find(({ hasCameras, isAlive }) => hasCameras && isAlive)
    if (!found) throw new AppError('unavailable', 'no server with cameras is running')
    const peer = toPeer(found)
    if (!peer)
      throw new AppError('unavailable', `the server ${found.name}, which has cameras, needs the option peer-address`)
    return peer
  }

  run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    let isFailing = false
    let reportedMs = clock.monotonicMs()
    const report = async () => {
      try {
        if (!(await this.#options.rows.renew(this.#self, lastsMs))) await this.#add({ isStart: false })
        await this.#read()
        if (isFailing) log.info({}, 'this server reports again that it is alive')
        isFailing = false
        // A machine that slept does not know how long the others could not report.
        const nowMs = clock.monotonicMs()
        const isBroken = this.#steadySinceMs > nowMs || nowMs - reportedMs > lastsMs
        if (isBroken) this.#steadySinceMs = nowMs
        reportedMs = nowMs
      } catch (error) {
        if (error instanceof AppError && error.kind === 'conflict') this.#lost.resolve(error)
        else if (!isFailing) log.warn({ error: errorChain(error) }, 'this server cannot report that it is alive')
        isFailing = true
        this.#steadySinceMs = Number.POSITIVE_INFINITY
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

  /** Servers with cameras ask each other. One that has just ended is waited for. */
  async #checkAddresses(): Promise<void> {
    const { rows, clock } = this.#options
    const { name, hasCameras, address, holder } = this.#self
    if (!hasCameras) return
    for (
      const deadlineMs = clock.monotonicMs() + lastsMs + reportIntervalMs;
      ;
      await clock.sleep(reportIntervalMs / 4)
    ) {
      const others = (await rows.list()).filter(
        (node) => node.hasCameras && node.isAlive && node.name !== name && node.holder !== holder,
      )
      const mute = address === null ? name : others.find((node) => node.address === null)?.name
      if (others.length === 0 || mute === undefined) return
      if (clock.monotonicMs() < deadlineMs) continue
      const all = others.map((node) => `${node.name} (${node.holder})`).join(', ')
      throw new AppError(
        'conflict',
        `${all} has cameras of this database too: servers that share cameras need the option peer-address, which ${mute} has not. A server that only answers is started with --no-cameras`,
      )
    }
  }

  async #add({ isStart }: { readonly isStart: boolean }): Promise<void> {
    const { rows } = this.#options
    if (await rows.add(this.#self, { lastsMs, isStart })) return
    const { name } = this.#self
    const other = (await rows.list()).find((node) => node.name === name)
    const where = other ? `, ${other.holder}` : ''
    throw new AppError('conflict', `another server is called ${name}${where}: give this one another --node-name`)
  }

  async #read(): Promise<void> {
    this.#all = await this.#options.rows.list()
    await this.readLeases()
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
