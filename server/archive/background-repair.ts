// Repairs files that a crash left open while the server already runs: newest first, one at a time, with pauses in
// between. A file is repaired at once when a request needs footage that it may contain. Files without a row are
// searched for too. Docs: docs/design/recording.md.

import { settlesWithin } from '../base/deadline.ts'
import { AppError, errorChain } from '../base/error.ts'
import { Notifier } from '../base/notifier.ts'
import { pause } from '../base/pause.ts'
import { SingleFlight } from '../base/single-flight.ts'
import type { Segment } from '../model/segment.ts'
import type { FileLocation } from '../model/segment-views.ts'
import { waitForPlace } from '../places/place-folder.ts'
import { adoptFile, findUnknownFrom, findUnknownSince, type KnownCamera, listUnknownFiles } from './adoption.ts'
import { type DeletionContext, finishPendingDeletions } from './deletion.ts'
import { startOfPath } from './layout.ts'
import { createRepairReport, type RepairReport, repairSegment } from './repair.ts'

export type RepairOptions = {
  readonly context: DeletionContext
  /** True for files that a recorder has reported. They have a row, or get one soon. */
  readonly isKnownFile: (cameraId: number, path: string) => boolean
}

export type RepairProgress = {
  /** Files that wait for repair. */
  readonly pending: number
  /** Since the server started. */
  readonly repaired: number
  /** Files whose repair failed. It is retried. */
  readonly failed: number
}

type UnclosedSegment = Pick<Segment, 'id' | 'placeId' | 'path' | 'cameraId' | 'startMs'>

/** `gapReasons`: why nothing was recorded before a file, by its path. */
type Unseen = {
  readonly cameraId: number
  readonly placeId: number
  readonly fromMs: number
  readonly gapReasons?: ReadonlyMap<string, string>
}

type Pending = {
  readonly segment: UnclosedSegment
  readonly onRepaired: () => void
  readonly repairing: SingleFlight<void>
  failures: number
  /** The database or the disk was away at the last attempt. */
  isAwaited: boolean
  retryAtMs: number
}

/** The maximum length of a segment: see server/store/footage/segments.ts. */
const maxSegmentMs = 3_600_000
/** A request for footage waits at most this long for a repair, and then returns what is known. */
const maxDemandMs = 5000
/** After each file, the repair pauses for as long as it took, and at least this long. */
const minRestMs = 5
/** While recorders wait for the disk, the repair pauses for at most this long. */
const maxYields = 10
const yieldMs = 1000
const minRetryMs = 30_000
/** For a file whose disk is away. */
const awayRetryMs = 5000
const maxRetryMs = 3_600_000
/** A file that no recorder has reported and that has not changed for this long belongs to no recorder. */
const settleMs = 10_000

export class BackgroundRepair {
  readonly #options: RepairOptions
  /** Oldest first. */
  #pending: Pending[] = []
  readonly #byCamera = new Map<number, Set<Pending>>()
  readonly #watchers = new Map<number, PromiseWithResolvers<void>>()
  /** Where files without a row have not been searched for yet. */
  #unseen: Unseen[] = []
  readonly #report = createRepairReport()
  readonly #added = new Notifier()

  constructor(options: RepairOptions) {
    this.#options = options
  }

  /** Call it before recorders run. It lists the open files from the rows alone. Throws the database's errors. */
  async open(cameras: readonly KnownCamera[] = []): Promise<void> {
    const { rows, places, node, log } = this.#options.context
    const oldestMs = new Map<number, number>()
    for (const segment of await this.#listOpen()) {
      this.add(segment)
      const { cameraId, startMs } = segment
      oldestMs.set(cameraId, Math.min(startMs, oldestMs.get(cameraId) ?? startMs))
    }
    for (const camera of cameras) {
      const { id: cameraId } = camera
      const fromMs = await findUnknownFrom(rows, camera, oldestMs.get(cameraId))
      for (const { id: placeId } of places.folders) {
        const sinceMs = node === undefined ? undefined : await this.#findUnknownSince({ cameraId, placeId })
        this.#unseen.push({ cameraId, placeId, fromMs: Math.min(fromMs, sinceMs ?? fromMs) })
      }
    }
    if (this.#pending.length > 0)
      log.info({ files: this.#pending.length }, 'recordings left open by a crash will be repaired')
  }

  /** A disk that is away is waited for with what the rows tell. */
  async #findUnknownSince(where: { readonly cameraId: number; readonly placeId: number }): Promise<number | undefined> {
    const { context } = this.#options
    if (!(await context.places.isPresent(where.placeId))) return undefined
    return findUnknownSince(context, where)
  }

  /**
   * Call it while recorders run, when rows may have been lost: adds the files of open rows that nobody writes, and looks
   * for files since `fromMs` that have no row.
   */
  async recheck(cameras: readonly KnownCamera[], fromMs: number): Promise<void> {
    const waiting = new Set(this.#pending.map(({ segment }) => segment.id))
    for (const segment of await this.#listOpen())
      if (!waiting.has(segment.id) && !this.#options.isKnownFile(segment.cameraId, segment.path)) this.add(segment)
    for (const { id: cameraId } of cameras) this.lookFor(cameraId, fromMs)
  }

  /** Looks for files of a camera since `fromMs` that have no row. `gapReasons`: what their recorder has said, by path. */
  lookFor(cameraId: number, fromMs: number, gapReasons: ReadonlyMap<string, string> = new Map()): void {
    for (const { id: placeId } of this.#options.context.places.folders)
      this.#unseen.push({ cameraId, placeId, fromMs, gapReasons })
    this.#added.notify()
  }

  /** Those in places of this server: of others, their servers write. */
  async #listOpen(): Promise<Segment[]> {
    const { rows, places } = this.#options.context
    const own = new Set(places.all.map(({ id }) => id))
    return (await rows.listOpen()).filter(({ placeId }) => own.has(placeId))
  }

  /** Adds a file that no recorder writes any more. `onRepaired` must not throw. */
  add(segment: UnclosedSegment, onRepaired: () => void = () => {}): void {
    const pending: Pending = {
      segment,
      onRepaired,
      repairing: new SingleFlight(),
      failures: 0,
      isAwaited: false,
      retryAtMs: 0,
    }
    const index = this.#pending.findLastIndex((other) => other.segment.startMs <= segment.startMs) + 1
    this.#pending.splice(index, 0, pending)
    const own = this.#byCamera.get(segment.cameraId) ?? new Set()
    this.#byCamera.set(segment.cameraId, own.add(pending))
    this.#added.notify()
  }

  /** True while a file of the camera waits for repair. */
  hasPending(cameraId: number): boolean {
    return this.#byCamera.has(cameraId)
  }

  /** Start of the newest waiting file of the camera. */
  newestPendingMs(cameraId: number): number | undefined {
    const starts = [...(this.#byCamera.get(cameraId) ?? [])].map(({ segment }) => segment.startMs)
    return starts.length > 0 ? Math.max(...starts) : undefined
  }

  /**
   * Repairs files that may hold footage of [startMs, endMs). Resolves when that is done, has failed or takes too long.
   */
  async demand(cameraId: number, startMs: number, endMs: number): Promise<void> {
    const wanted = [...(this.#byCamera.get(cameraId) ?? [])].filter(
      ({ segment, failures }) => failures === 0 && segment.startMs < endMs && segment.startMs + maxSegmentMs > startMs,
    )
    if (wanted.length === 0) return
    const repairs = Promise.all(wanted.map((pending) => this.#repairOne(pending)))
    await settlesWithin(repairs, maxDemandMs, this.#options.context.clock)
  }

  /** Resolves when no file of the camera waits, except those whose repair failed. */
  async whenRepaired(cameraId: number): Promise<void> {
    if (!this.#isWaiting(cameraId)) return
    const watcher = this.#watchers.get(cameraId) ?? Promise.withResolvers<void>()
    this.#watchers.set(cameraId, watcher)
    await watcher.promise
  }

  /** Call it when a camera is deleted. Returns the ids of its waiting files, which will not be repaired. */
  async drop(cameraId: number): Promise<number[]> {
    const own = [...(this.#byCamera.get(cameraId) ?? [])]
    this.#unseen = this.#unseen.filter((each) => each.cameraId !== cameraId)
    await Promise.all(own.map(({ repairing }) => repairing.running))
    const left = own.filter((pending) => this.#byCamera.get(cameraId)?.has(pending))
    for (const pending of left) this.#forget(pending)
    return left.map(({ segment }) => segment.id)
  }

  /** Repairs everything now, while nobody records. */
  async finish(): Promise<RepairReport> {
    for (const pending of this.#pending.toReversed()) await this.#repairOne(pending)
    await this.#adopt(0, new AbortController().signal)
    return { ...this.#report }
  }

  /** Runs in the background until `signal` aborts. `isBusy`: true while recorders wait for the disk. */
  async run(isBusy: () => boolean, signal: AbortSignal): Promise<void> {
    const { places, clock, log } = this.#options.context
    let isReported = this.#pending.length === 0
    while (!signal.aborted) {
      await waitForPlace(places, clock, signal)
      // Do this first: if this process crashes soon too, the next one could not tell these files from those that it
      // must search for.
      if (!signal.aborted) await this.#adopt(settleMs, signal)
      const next = this.#findNext()
      if (next) {
        const beganMs = clock.monotonicMs()
        await this.#repairOne(next)
        await this.#rest(clock.monotonicMs() - beganMs, isBusy, signal)
        continue
      }
      if (!isReported) log.info({ ...this.#report }, 'recordings left open by a crash have been repaired')
      isReported = true
      await this.#sleep(signal)
    }
  }

  progress(): RepairProgress {
    const failed = this.#pending.filter(({ failures }) => failures > 0).length
    return { pending: this.#pending.length - failed, repaired: this.#report.segments, failed }
  }

  #findNext(): Pending | undefined {
    const nowMs = this.#options.context.clock.monotonicMs()
    return this.#pending.findLast(({ retryAtMs }) => retryAtMs <= nowMs)
  }

  #isWaiting(cameraId: number): boolean {
    return [...(this.#byCamera.get(cameraId) ?? [])].some(({ failures }) => failures === 0)
  }

  /** Never throws. Concurrent calls for the same file share one repair. */
  #repairOne(pending: Pending): Promise<void> {
    return pending.repairing.run(() => this.#repair(pending))
  }

  async #repair(pending: Pending): Promise<void> {
    const { context } = this.#options
    const { segment } = pending
    try {
      await repairSegment(context, segment, this.#report)
      this.#forget(pending)
      pending.onRepaired()
    } catch (error) {
      // If the database does not answer, or the disk is not mounted, the file itself is not damaged.
      const isElsewhere = isAway(error) || !(await context.places.isPresent(segment.placeId))
      if (!isElsewhere || !pending.isAwaited)
        context.log.error({ path: segment.path, error: errorChain(error) }, 'the recording could not be repaired')
      pending.isAwaited = isElsewhere
      if (isElsewhere) {
        pending.retryAtMs = context.clock.monotonicMs() + awayRetryMs
        return
      }
      const delayMs = Math.min(maxRetryMs, minRetryMs * 2 ** pending.failures++)
      pending.retryAtMs = context.clock.monotonicMs() + delayMs
    }
    this.#notify(segment.cameraId)
  }

  #forget(pending: Pending): void {
    const { cameraId } = pending.segment
    this.#pending.splice(this.#pending.indexOf(pending), 1)
    const own = this.#byCamera.get(cameraId)
    own?.delete(pending)
    if (own?.size === 0) this.#byCamera.delete(cameraId)
    this.#notify(cameraId)
  }

  #notify(cameraId: number): void {
    if (this.#isWaiting(cameraId)) return
    this.#watchers.get(cameraId)?.resolve()
    this.#watchers.delete(cameraId)
  }

  async #rest(tookMs: number, isBusy: () => boolean, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options.context
    await pause(clock, Math.max(minRestMs, tookMs), signal)
    for (let i = 0; i < maxYields && isBusy() && !signal.aborted; i++) await pause(clock, yieldMs, signal)
  }

  /** Waits until a file is added, or is due for a retry. */
  async #sleep(signal: AbortSignal): Promise<void> {
    if (this.#findNext()) return
    await this.#added.wait(this.#options.context.clock, awayRetryMs, signal)
  }

  /** Runs once for each place: finds files that were created before `open` and have no row. */
  async #adopt(settleMs: number, signal: AbortSignal): Promise<void> {
    if (this.#unseen.length === 0) return
    const present = new Set((await this.#options.context.places.listPresent()).map(({ id }) => id))
    const unseen = this.#unseen.filter(({ placeId }) => present.has(placeId))
    this.#unseen = this.#unseen.filter(({ placeId }) => !present.has(placeId))
    if (unseen.length === 0) return
    const { context, isKnownFile } = this.#options
    const { log } = context
    // Files that were about to be deleted must not be mistaken for footage without a row.
    await this.#try('pending deletions could not be completed', undefined, () => finishPendingDeletions(context))
    const listUnknown = async () => {
      const found = new Map<string, FileLocation & { readonly changedMs: number; readonly where: Unseen }>()
      for (const where of unseen) {
        if (signal.aborted) break
        const error = await this.#try('recordings without an entry not looked for', where.cameraId, async () => {
          for (const file of await listUnknownFiles(context, where)) {
            if (isKnownFile(where.cameraId, file.path)) continue
            found.set(`${file.placeId} ${file.path}`, { ...file, where })
          }
        })
        if (isAway(error)) this.#unseen.push(where)
      }
      return found
    }
    let unknown = await listUnknown()
    if (unknown.size > 0 && settleMs > 0) {
      // A recorder reports a file after it has created it.
      await pause(context.clock, settleMs, signal)
      const before = unknown
      unknown = await listUnknown()
      for (const [key, { changedMs }] of unknown) if (before.get(key)?.changedMs !== changedMs) unknown.delete(key)
    }
    for (const file of unknown.values()) {
      if (signal.aborted) return
      const error = await this.#try('recording without an entry not looked at', file.path, async () => {
        const result = await adoptFile(context, file, file.where.gapReasons?.get(file.path))
        if (result === 'adopted') this.#report.adopted++
        if (result === 'empty' || result === 'copy') this.#report.removed++
      })
      if (isAway(error)) this.#unseen.push({ ...file.where, fromMs: startOfPath(file.path) })
    }
    if (this.#report.adopted > 0)
      log.info({ adopted: this.#report.adopted }, 'recordings missing in the index were added to it')
  }

  /** What fails is left unchanged, and the next start retries it. Returns the error. */
  async #try(failure: string, of: string | number | undefined, work: () => Promise<void>): Promise<unknown> {
    try {
      await work()
    } catch (error) {
      this.#options.context.log.error({ of, error: errorChain(error) }, failure)
      return error
    }
  }
}

/** The database, or the disk, is away for the moment. */
const isAway = (error: unknown): boolean => error instanceof AppError && error.kind === 'unavailable'
