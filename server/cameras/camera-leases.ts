// Which cameras this server has, where servers share a PostgreSQL database. It takes those that are to be its own and that
// no living server has, and learns of those that it lost. What it believes may be old; every write is checked by the
// database (server/store/server/leases.ts).

import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { Notifier } from '../base/notifier.ts'
import { pause } from '../base/pause.ts'
import { SerialQueue } from '../base/serial-queue.ts'
import type { CameraLease } from '../model/camera-lease.ts'
import { type CandidateServer, type PlacementPreference, placeCamera } from '../model/placement.ts'
import type { LeaseRow, Leases, TakenLease } from '../store/server/leases.ts'
import type { Placements } from '../store/server/placements.ts'

export type CameraLeasesOptions = {
  readonly rows: Pick<Leases, 'list' | 'take' | 'release'>
  readonly placements: Pick<Placements, 'listServers' | 'listCameras'>
  /** All ids. */
  readonly listCameras: () => Promise<readonly number[]>
  readonly self: { readonly name: string; readonly incarnation: string }
  readonly servers: {
    /** Those that are alive and may have cameras; this one too. */
    readonly withCameras: readonly Pick<CandidateServer, 'name' | 'processors'>[]
    /** True if the server with this incarnation counts as alive. */
    isAlive(incarnation: string): boolean
    /** False for a while after the database did not answer: other servers could not report that they are alive either. */
    readonly isSteady: boolean
    /** Takes all leases, as they are now. */
    noteLeases(leases: Iterable<CameraLease>): void
  }
  readonly clock: Clock
  readonly log: Logger
}

/** A lease of this server. `gapReason`: why nothing was recorded before; undefined if no server ever had the camera. */
export type OwnLease = CameraLease & { readonly gapReason: 'node_lost' | 'server_down' | undefined }

const intervalMs = 2000
/** A server that was gone for a moment has its cameras back, and then nothing has to be moved. */
const settledMs = 30_000
/** Cameras that are given to other servers at a time. */
const movesAtOnce = 3
/** After this time, a free camera is not left for the server whose it is to be. */
const takingMs = 15_000
/** For so long, a server that took nothing gets no cameras. */
const idleMs = 10 * 60_000

/** Where cameras should be now. */
type Plan = {
  readonly servers: readonly CandidateServer[]
  readonly preferences: ReadonlyMap<number, PlacementPreference>
}

export class CameraLeases {
  readonly #options: CameraLeasesOptions
  #own: ReadonlyMap<number, OwnLease> = new Map()
  readonly #updates = new SerialQueue()
  readonly #doubts = new Notifier()
  #isDoubted = false
  readonly #listeners = new Set<(cameraIds: readonly number[]) => void>()
  #isFailing = false
  /** Given up by this server, and not yet given back. `isEnded`: nothing of the camera is here any more. */
  readonly #leaving = new Map<number, { readonly lease: CameraLease; isEnded: boolean }>()
  /** The servers that may have cameras, and since when it is these. */
  #servers = { names: '', sinceMs: 0 }
  /** Free cameras that are to be another server's. */
  #waiting: ReadonlyMap<number, { readonly server: string; readonly sinceMs: number }> = new Map()
  /** Servers that are alive and took no camera that was to be theirs, and until when they get none. */
  readonly #idle = new Map<string, number>()

  constructor(options: CameraLeasesOptions) {
    this.#options = options
  }

  /** Undefined if this server does not have the camera, as far as it knows. */
  find(cameraId: number): OwnLease | undefined {
    return this.#own.get(cameraId)
  }

  /** The cameras of this server. */
  ids(): number[] {
    return [...this.#own.keys()]
  }

  /** Called with the cameras that were taken or lost; must not throw. */
  onChange(listener: (cameraIds: readonly number[]) => void): void {
    this.#listeners.add(listener)
  }

  /** A write was refused, a camera was added, or another server has given something back: looks at once. */
  doubt(): void {
    this.#isDoubted = true
    this.#doubts.notify()
  }

  /** Gives back and takes what is to be given and taken now. Throws the database's errors. */
  update(): Promise<void> {
    return this.#updates.run(async () => {
      const { rows, listCameras, self, servers, log } = this.#options
      await rows.release([...this.#leaving.values()].flatMap(({ lease, isEnded }) => (isEnded ? [lease] : [])))
      const leases = new Map((await rows.list()).map((lease) => [lease.cameraId, lease]))
      for (const [cameraId, { lease }] of this.#leaving) {
        const { incarnation, epoch } = leases.get(cameraId) ?? {}
        if (incarnation !== lease.incarnation || epoch !== lease.epoch) this.#leaving.delete(cameraId)
      }
      const own = new Map<number, OwnLease>()
      for (const { cameraId, incarnation, epoch } of leases.values()) {
        if (incarnation !== self.incarnation || this.#leaving.has(cameraId)) continue
        const known = this.#own.get(cameraId)
        // One that is not known was taken, and the database could not tell.
        const gapReason = epoch > 1 ? 'node_lost' : undefined
        own.set(cameraId, known?.epoch === epoch ? known : { cameraId, incarnation, epoch, gapReason })
      }
      const plan = await this.#readPlan()
      const isFree = (id: number) => !own.has(id) && !this.#leaving.has(id) && this.#isFree(leases.get(id))
      const free = (await listCameras()).filter(isFree)
      this.#noteWaiting(free, plan)
      const wanted = free.filter((id) => this.#place(id, plan) === self.name)
      const taken = await rows.take(self, wanted)
      for (const { cameraId, incarnation, epoch, before } of taken) {
        const gapReason = before === undefined ? undefined : before === self.name ? 'server_down' : 'node_lost'
        own.set(cameraId, { cameraId, incarnation, epoch, gapReason })
      }
      servers.noteLeases(new Map<number, CameraLease>([...leases, ...own]).values())
      const moving = this.#listMoves(own, plan)
      for (const lease of moving) {
        own.delete(lease.cameraId)
        this.#leaving.set(lease.cameraId, { lease, isEnded: false })
      }
      const before = this.#own
      const lost = [...before.values()].filter(({ cameraId, epoch }) => own.get(cameraId)?.epoch !== epoch)
      const fresh = [...own.values()].filter(({ cameraId, epoch }) => before.get(cameraId)?.epoch !== epoch)
      this.#own = own
      if (taken.length > 0) log.info({ cameras: taken.length, from: countBy(taken) }, 'this server has taken cameras')
      if (moving.length > 0) log.info({ cameras: moving.length }, 'this server gives cameras to others')
      // Not those that were deleted, which have no lease any more.
      const elsewhere = lost.filter(({ cameraId }) => leases.has(cameraId) && !this.#leaving.has(cameraId))
      if (elsewhere.length > 0) log.warn({ cameras: elsewhere.length }, 'other servers have taken cameras of this one')
      const changed = [...new Set([...fresh, ...lost].map(({ cameraId }) => cameraId))]
      if (changed.length > 0) for (const listener of this.#listeners) listener(changed)
    })
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    while (!signal.aborted) {
      if (!this.#isDoubted) await this.#doubts.wait(clock, intervalMs, signal)
      if (signal.aborted) return
      this.#isDoubted = false
      try {
        await this.update()
        this.#isFailing = false
      } catch (error) {
        if (!this.#isFailing)
          log.warn({ error: errorChain(error) }, 'which cameras this server has could not be looked up')
        this.#isFailing = true
        this.#waiting = new Map()
        await pause(clock, intervalMs, signal)
      }
    }
  }

  /**
   * To be called for a camera that is not this server's, or no longer, when nothing of it is here: everything about it is
   * written, and its connection is closed. If this server has given it up, another one may take it. Looks at once.
   */
  giveBack(cameraId: number): void {
    const leaving = this.#leaving.get(cameraId)
    if (leaving) leaving.isEnded = true
    this.doubt()
  }

  /** Gives all cameras back. Call after everything about them is written. */
  async close(): Promise<void> {
    const { rows, log } = this.#options
    await this.#updates.idle()
    const all = [...this.#own.values(), ...[...this.#leaving.values()].map(({ lease }) => lease)]
    this.#own = new Map()
    await rows.release(all).catch((error) => {
      log.warn({ error: errorChain(error) }, 'the cameras could not be given back; others take them in some seconds')
    })
  }

  async #readPlan(): Promise<Plan> {
    const { placements, servers, self, clock } = this.#options
    const settings = await placements.listServers()
    const nowMs = clock.monotonicMs()
    const isIdle = (name: string) => name !== self.name && (this.#idle.get(name) ?? 0) > nowMs
    const known = servers.withCameras.map(({ name, processors }) => {
      return { name, processors, isDraining: false, labels: [], ...settings.get(name) }
    })
    const usable = known.filter(({ name, isDraining }) => !isDraining && !isIdle(name))
    return { servers: usable, preferences: await placements.listCameras() }
  }

  /** Finds servers that leave cameras without one, although they count as alive: from then on they get none. */
  #noteWaiting(free: readonly number[], plan: Plan): void {
    const { self, servers, clock, log } = this.#options
    const nowMs = clock.monotonicMs()
    const waiting = new Map<number, { readonly server: string; readonly sinceMs: number }>()
    // Without the database, they could not take any.
    for (const id of servers.isSteady ? free : []) {
      const server = this.#place(id, plan)
      if (server === undefined || server === self.name) continue
      const before = this.#waiting.get(id)
      const since = before?.server === server ? before : { server, sinceMs: nowMs }
      waiting.set(id, since)
      if (nowMs - since.sinceMs < takingMs || (this.#idle.get(server) ?? 0) > nowMs) continue
      this.#idle.set(server, nowMs + idleMs)
      log.warn({ server }, 'a server takes none of its cameras; the others take them')
    }
    this.#waiting = waiting
  }

  #place(cameraId: number, { servers, preferences }: Plan): string | undefined {
    return placeCamera(cameraId, servers, preferences.get(cameraId))?.server
  }

  /**
   * Cameras that are to be another server's: those that somebody has placed at once, others when the servers have been the
   * same for a while. None are given up for which there is no other server.
   */
  #listMoves(own: ReadonlyMap<number, OwnLease>, plan: Plan): OwnLease[] {
    const { self, clock } = this.#options
    const names = plan.servers.map(({ name }) => name).join()
    const nowMs = clock.monotonicMs()
    if (names !== this.#servers.names) this.#servers = { names, sinceMs: nowMs }
    const isSettled = nowMs - this.#servers.sinceMs >= settledMs
    const isDraining = plan.servers.every(({ name }) => name !== self.name)
    const stray = [...own.values()].filter(({ cameraId }) => {
      const isDue = isSettled || isDraining || plan.preferences.has(cameraId)
      return isDue && (this.#place(cameraId, plan) ?? self.name) !== self.name
    })
    return stray.slice(0, Math.max(0, movesAtOnce - this.#leaving.size))
  }

  #isFree(lease: LeaseRow | undefined): boolean {
    const { self, servers } = this.#options
    // Of an earlier run of this server, which has ended.
    if (!lease?.isHeld || lease.node === self.name) return true
    return servers.isSteady && !servers.isAlive(lease.incarnation)
  }
}

/** How many were taken from which server; `nobody` for cameras that none had. */
function countBy(taken: readonly TakenLease[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { before = 'nobody' } of taken) counts[before] = (counts[before] ?? 0) + 1
  return counts
}
