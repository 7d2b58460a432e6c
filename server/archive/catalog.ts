// The footage that exists: closed segments through the store, and open ones in memory, with each fragment as it is
// written. It is the only owner of this state on the main thread. Recorders report to it, and playback and the timeline
// read from it.

import type { Clock } from '../base/clock.ts'
import { AppError, errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { Notifier } from '../base/notifier.ts'
import { Backoff } from '../base/retry.ts'
import { SerialQueue } from '../base/serial-queue.ts'
import { type CameraLease, LostLease } from '../model/camera-lease.ts'
import { compareRecorded, isNewEpoch } from '../model/clock-epoch.ts'
import { listHoles } from '../model/footage-hole.ts'
import type { Fragment, Segment } from '../model/segment.ts'
import type {
  ConfirmedPart,
  FootageBounds,
  LastSegment,
  OpenFootage,
  OpenSegment,
  SegmentLocation,
  SegmentSpan,
} from '../model/segment-views.ts'
import type { FootageFile } from '../places/place-files.ts'
import { waitForPlace } from '../places/place-folder.ts'
import type { Places } from '../places/places.ts'
import type { KnownCamera } from './adoption.ts'
import { BackgroundRepair } from './background-repair.ts'
import { bytesOf, type Entry, lastOf, mergeById, toSegment } from './catalog-entry.ts'
import { type DeletionContext, deleteSegments } from './deletion.ts'
import { FinalSyncs } from './final-syncs.ts'
import { joinBounds } from './footage-bounds.ts'
import { removeFootage } from './removal.ts'
import type { RepairReport } from './repair.ts'
import type { SegmentRows } from './segment-rows.ts'

export type CatalogOptions = {
  readonly rows: SegmentRows
  readonly places: Places
  /** See `DeletionContext`. */
  readonly node?: string | undefined
  readonly clock: Clock
  readonly log: Logger
  /** Called in order when footage resumes after a gap, or when frames were lost. Must not throw. */
  readonly onGap?: (gap: FootageGap) => void
  /** Called when a row was refused because another server has its camera. Must not throw. */
  readonly onLostLease?: (error: LostLease) => void
  /** Of files that wait for their rows, while the database is away. */
  readonly maxWaitingFragments?: number
  /** Used to repair files. By default, a new one is created. */
  readonly syncs?: FinalSyncs
}

/**
 * There is no footage in [startMs, endMs), though there was some before. Unix milliseconds. `reason`: as in the
 * timeline. With `clock_set`, the end may be before the start, because the clock was set back.
 */
export type FootageGap = {
  readonly cameraId: number
  readonly startMs: number
  readonly endMs: number
  readonly reason: string
}

/** About 60 MB: of 100 cameras, what they record in more than an hour. */
const usualMaxWaitingFragments = 400_000

/** Far longer than a replica is behind before anybody promotes it. */
const recheckedMs = 15 * 60_000

/** Called once `listSegments` includes a new fragment or the end of a segment. */
export type FootageListener = () => void

export class Catalog {
  /** Repairs files that were left open. It is opened before the recorders start, and runs alongside them. */
  readonly repair: BackgroundRepair
  readonly #rows: SegmentRows
  readonly #places: Places
  readonly #node: string | undefined
  readonly #clock: Clock
  readonly #log: Logger
  readonly #onGap: CatalogOptions['onGap']
  readonly #onLostLease: NonNullable<CatalogOptions['onLostLease']>
  readonly #maxWaitingFragments: number
  /** Oldest first. All but the last are closed and wait for their row. */
  readonly #entries = new Map<number, Entry[]>()
  /** Pending row writes of a camera, in order. */
  readonly #work = new Map<number, SerialQueue>()
  readonly #listeners = new Map<number, Set<FootageListener>>()
  /** The segment that each camera opened last since this process started. */
  readonly #last = new Map<number, Entry>()
  readonly #stop = new AbortController()
  /** Rows that could not be written are tried again at once: the database was just heard. */
  readonly #retry = new Notifier()
  readonly #syncs: FinalSyncs
  #recordedBytes = 0
  #waitingFragments = 0

  constructor({
    rows,
    places,
    node,
    clock,
    log,
    onGap,
    onLostLease = () => {},
    maxWaitingFragments = usualMaxWaitingFragments,
    syncs = new FinalSyncs(),
  }: CatalogOptions) {
    this.#maxWaitingFragments = maxWaitingFragments
    this.#places = places
    this.#node = node
    this.#rows = rows
    this.#clock = clock
    this.#log = log
    this.#onGap = onGap
    this.#onLostLease = onLostLease
    this.#syncs = syncs
    this.repair = new BackgroundRepair({
      context: this.#context,
      isKnownFile: (cameraId, path) => this.#find(cameraId, path) !== undefined,
    })
  }

  /**
   * Call it while nobody records. Closes open files, and adds rows for files of these cameras that a crash left without
   * one.
   */
  async repairOpen(cameras: readonly KnownCamera[] = []): Promise<RepairReport> {
    await this.repair.open(cameras)
    return this.repair.finish()
  }

  /** Call it when the database may lack what was committed in the last minutes: the files tell what that was. */
  recheck(listCameras: () => Promise<readonly KnownCamera[]>): Promise<void> {
    for (const entry of [...this.#entries.values()].flat())
      this.#enqueue(entry.opened.cameraId, async () => {
        // One that is closed by now looks itself.
        if (entry.id === undefined || entry.isClosed) return
        const row = await this.#rows.find(entry.id)
        if (row?.path !== entry.opened.path)
          entry.id = await this.#rows.insertOpen(entry.opened, undefined, entry.lease)
      })
    return this.#untilDone('index of recordings not compared', undefined, async () => {
      await this.repair.recheck(await listCameras(), this.#clock.nowMs() - recheckedMs)
    })
  }

  /** `lease`: of the camera, while the file is recorded. */
  segmentOpened(opened: OpenSegment, lease?: CameraLease): void {
    const { cameraId } = opened
    const entries = this.#entriesOf(cameraId)
    const abandoned = entries.at(-1)
    if (abandoned && !abandoned.isClosed) this.#abandon(abandoned)
    const entry: Entry = {
      ...{ opened, reported: opened },
      lease,
      id: undefined,
      before: undefined,
      fragments: [],
      indexBytes: 0,
      isClosed: false,
      waiting: 0,
      isAbandoned: false,
      isLastOfRecorder: false,
    }
    entries.push(entry)
    const before = this.#last.get(cameraId)
    this.#last.set(cameraId, entry)
    this.#enqueue(cameraId, async (isRetry) => {
      // A connection that broke does not tell whether the row was written.
      const newest = isRetry ? await this.#rows.findNewest(cameraId) : undefined
      if (newest?.path === opened.path && newest.placeId === opened.placeId && !newest.isClosed) {
        entry.id = newest.id
        this.#notify(cameraId)
        return
      }
      const last = before?.fragments.length ? lastOf(before) : await this.#rows.findLast(cameraId)
      const isAfterRestart =
        (!before || before.isLastOfRecorder) && opened.gapReason === undefined && last !== undefined
      entry.before = last
      // Footage recorded after `last` may have been lost or deleted.
      const latestEpoch = await this.#rows.findLastEpoch(cameraId)
      const isEpoch = last?.epoch === latestEpoch && isNewEpoch(last, opened.startMs)
      const epoch = latestEpoch + (isEpoch ? 1 : 0)
      // Whatever else happened, the clock is behind its earlier time.
      const gapReason = isEpoch ? 'clock_set' : isAfterRestart ? 'server_down' : opened.gapReason
      entry.opened = { ...opened, ...(epoch > 0 && { epoch }), ...(gapReason !== undefined && { gapReason }) }
      entry.id = await this.#rows.insertOpen(entry.opened, isEpoch ? epoch : undefined, lease)
      this.#notify(cameraId)
    })
  }

  fragmentWritten(cameraId: number, path: string, fragment: Fragment): void {
    const entry = this.#find(cameraId, path)
    if (!entry || entry.isClosed) return
    entry.fragments.push(fragment)
    this.#recordedBytes += fragment.bytes
    if (entry.fragments.length === 1 && this.#onGap) this.#reportGap(entry, fragment, this.#onGap)
    else if (fragment.hole) this.#reportHole(cameraId, fragment)
    this.#notify(cameraId)
  }

  segmentClosed(cameraId: number, path: string, checksum?: number, indexBytes = 0): void {
    const entry = this.#find(cameraId, path)
    if (!entry || entry.isClosed) return
    entry.indexBytes = indexBytes
    this.#finishWith(entry, checksum)
  }

  /**
   * Call it when the disk has confirmed only the beginning of the file. The rest is withdrawn at once. The file is not
   * read again, because the page cache may contain data that the disk does not.
   */
  segmentBroken(cameraId: number, path: string, { bytes, checksum }: ConfirmedPart): void {
    const entry = this.#find(cameraId, path)
    if (!entry || entry.isClosed) return
    const kept = entry.fragments.findLastIndex((fragment) => fragment.offset + fragment.bytes <= bytes) + 1
    entry.fragments.splice(kept)
    this.#log.error({ cameraId, path, bytes }, 'the disk did not confirm the end of a recording, which is lost')
    this.#notify(cameraId)
    this.#finishWith(entry, checksum)
  }

  /**
   * Call it when the recorder of this camera crashed without closing its file. Complete fragments are kept, after a
   * repair in the background.
   */
  abandon(cameraId: number): void {
    for (const entry of this.#entriesOf(cameraId)) if (!entry.isClosed) this.#abandon(entry)
    const last = this.#last.get(cameraId)
    if (last) last.isLastOfRecorder = true
  }

  /**
   * Another server has the camera now: what was not written yet is forgotten. Its recorder must have closed. The files are
   * repaired, up to where that server continued.
   */
  async release(cameraId: number): Promise<void> {
    this.#retry.notify()
    await this.flush(cameraId)
    let unknownFromMs = Number.POSITIVE_INFINITY
    const gapReasons = new Map<string, string>()
    // A copy, because entries leave it. What waits for repair leaves it then.
    for (const entry of this.#entriesOf(cameraId).filter(({ id, isAbandoned }) => id === undefined || !isAbandoned)) {
      entry.isClosed = true
      this.#settle(entry)
      this.#leave(entry)
      if (entry.id !== undefined) {
        this.repair.add(toSegment(entry, entry.id))
        continue
      }
      // Its row was refused, or never asked for.
      const { path, startMs, gapReason } = entry.reported
      unknownFromMs = Math.min(unknownFromMs, startMs)
      if (gapReason !== undefined) gapReasons.set(path, gapReason)
    }
    this.#last.delete(cameraId)
    if (Number.isFinite(unknownFromMs)) this.repair.lookFor(cameraId, unknownFromMs, gapReasons)
  }

  /** Segments that overlap [startMs, endMs), in the order of recording, including the open one. */
  async listSegments(cameraId: number, startMs: number, endMs: number): Promise<Segment[]> {
    if (this.repair.hasPending(cameraId)) await this.repair.demand(cameraId, startMs, endMs)
    const open = this.#listInMemory(cameraId, startMs, endMs)
    const closed = await this.#rows.listBetween(cameraId, startMs, endMs)
    return mergeById(closed, open)
  }

  /** Like `listSegments`, without fragments. */
  async listSpans(cameraId: number, startMs: number, endMs: number): Promise<SegmentSpan[]> {
    if (this.repair.hasPending(cameraId)) await this.repair.demand(cameraId, startMs, endMs)
    const open = this.#listInMemory(cameraId, startMs, endMs)
    const closed = await this.#rows.listSpans(cameraId, startMs, endMs)
    // A segment whose row was closed in between is in both lists. A repaired one may be far from the newest.
    const fresh: SegmentSpan[] = open
      .filter((segment) => !closed.some(({ id }) => id === segment.id))
      .map((segment) => ({ ...segment, holes: listHoles(segment.fragments) }))
    return [...closed, ...fresh].sort(compareRecorded)
  }

  /** Whether any segment of `listSegments` has an audio track. */
  async hasAudio(cameraId: number, startMs: number, endMs: number): Promise<boolean> {
    const isInMemory = this.#listInMemory(cameraId, startMs, endMs).some(({ codecs }) => codecs.includes(','))
    return isInMemory || this.#rows.hasAudio(cameraId, startMs, endMs)
  }

  /** The current state of the segment, or undefined if it does not exist (any more). */
  async findSegment(id: number): Promise<Segment | undefined> {
    for (const entries of this.#entries.values()) {
      const entry = entries.find((entry) => entry.id === id)
      if (entry) return toSegment(entry, id)
    }
    const segment = await this.#rows.find(id)
    return segment?.isClosed ? segment : undefined
  }

  /**
   * Opens the file of a segment for reading, wherever it was moved since the segment was read. Throws 'not_found' when it
   * was deleted, and 'unavailable' when its disk is away.
   */
  async open(segment: SegmentLocation): Promise<FootageFile> {
    try {
      return await this.#places.open(segment)
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'not_found') throw error
      const now = await this.findSegment(segment.id)
      if (!now || (now.placeId === segment.placeId && now.path === segment.path)) throw error
      return await this.#places.open(now)
    }
  }

  /** First and newest footage. Undefined if there is none. */
  async bounds(cameraId: number): Promise<FootageBounds | undefined> {
    if (this.repair.hasPending(cameraId)) {
      await this.repair.demand(cameraId, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
    }
    return this.#bounds(cameraId)
  }

  /** Like `bounds`, but without waiting for the repair of files. They reach at least to their start. */
  async knownBounds(cameraId: number): Promise<FootageBounds | undefined> {
    const bounds = await this.#bounds(cameraId)
    const pendingMs = this.repair.newestPendingMs(cameraId)
    if (pendingMs === undefined) return bounds
    const { startMs, endMs } = bounds ?? { startMs: pendingMs, endMs: pendingMs }
    return { ...bounds, startMs, endMs: Math.max(endMs, pendingMs) }
  }

  async #bounds(cameraId: number): Promise<FootageBounds | undefined> {
    const open = this.#listInMemory(cameraId, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
    return joinBounds(await this.#rows.findBounds(cameraId), open)
  }

  /** The segment recorded last. If it waits for repair, only its start is known. */
  async findLast(cameraId: number): Promise<LastSegment | undefined> {
    const entry = this.#last.get(cameraId)
    // Its clock epoch is known once its row is.
    return entry?.id !== undefined && entry.fragments.length > 0 ? lastOf(entry) : this.#rows.findLast(cameraId)
  }

  /** The latest clock epoch that footage of the camera had, also if that was lost. */
  findLastEpoch(cameraId: number): Promise<number> {
    return this.#rows.findLastEpoch(cameraId)
  }

  /** True while a file of the camera is open. */
  isRecording(cameraId: number): boolean {
    return this.#entries.get(cameraId)?.some(({ isClosed }) => !isClosed) ?? false
  }

  /**
   * Deletes all footage of a camera, retrying as often as needed, because nothing else would delete it once the camera
   * is gone. Its recorder must have closed.
   */
  async removeCamera(cameraId: number): Promise<void> {
    this.abandon(cameraId)
    await this.flush(cameraId)
    const { signal } = this.#stop
    await this.#untilDone('footage of a removed camera not deleted', cameraId, async () => {
      await waitForPlace(this.#places, this.#clock, signal)
      if (signal.aborted) return
      await deleteSegments(this.#context, await this.repair.drop(cameraId))
      await removeFootage(this.#context, cameraId, signal)
    })
    this.#entries.delete(cameraId)
    this.#last.delete(cameraId)
  }

  /** Files that are open, or closed and waiting for their row; several of a camera are not added up. */
  openFootage(): OpenFootage[] {
    return [...this.#entries].flatMap(([cameraId, entries]) =>
      entries.map((entry) => ({ cameraId, placeId: entry.opened.placeId, bytes: bytesOf(entry) })),
    )
  }

  /** Returns a function that unsubscribes. */
  onFragment(cameraId: number, listener: FootageListener): () => void {
    const listeners = this.#listeners.get(cameraId) ?? new Set()
    this.#listeners.set(cameraId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(cameraId) === listeners) this.#listeners.delete(cameraId)
    }
  }

  /** Resolves when the rows contain everything reported so far for this camera, or for all cameras. */
  async flush(cameraId?: number): Promise<void> {
    const queues = cameraId === undefined ? [...this.#work.values()] : [this.#work.get(cameraId)]
    await Promise.all(queues.map((queue) => queue?.idle()))
  }

  /** Writes what is left, and gives up what the store refuses. Call it after the recorders have closed. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.flush()
  }

  /** `recordedBytes`: bytes of fragments since this process started. */
  stats(): { openSegments: number; recordedBytes: number } {
    let openSegments = 0
    for (const entries of this.#entries.values()) openSegments += entries.length
    return { openSegments, recordedBytes: this.#recordedBytes }
  }

  get #context(): DeletionContext {
    return {
      rows: this.#rows,
      places: this.#places,
      node: this.#node,
      log: this.#log,
      clock: this.#clock,
      syncs: this.#syncs,
    }
  }

  /**
   * The segment is opened with its first fragment. A segment without fragments does not count, and the gap continues.
   */
  #reportGap(entry: Entry, { startMs: endMs }: Fragment, onGap: (gap: FootageGap) => void): void {
    const { cameraId } = entry.opened
    const report = (startMs: number, reason: string) => {
      if (startMs < endMs) onGap({ cameraId, startMs, endMs, reason })
    }
    // Run this after the rows of earlier segments are written, and after it is known whether the server was down.
    this.#enqueue(cameraId, async () => {
      const { gapReason: reason } = entry.opened
      if (reason === undefined || entry.id === undefined) return
      if (reason === 'clock_set') {
        const { before } = entry
        if (before) onGap({ cameraId, startMs: before.endMs, endMs, reason })
        return
      }
      const before = await this.#rows.findBounds(cameraId)
      const pendingMs = this.repair.newestPendingMs(cameraId)
      if (pendingMs === undefined || pendingMs >= endMs) {
        if (before) report(before.endMs, reason)
        return
      }
      // The gap begins at the end of a file that waits for repair. New rows do not wait for that.
      const later = this.repair.whenRepaired(cameraId).then(async () => {
        const repaired = await this.#rows.listSpans(cameraId, pendingMs, endMs)
        const ends = repaired.filter(({ startMs }) => startMs < endMs).map((span) => span.endMs)
        if (before) ends.push(before.endMs)
        if (ends.length > 0) report(Math.max(...ends), reason)
      })
      later.catch((error) => this.#log.error({ cameraId, error: errorChain(error) }, 'a gap could not be reported'))
    })
  }

  #reportHole(cameraId: number, { startMs: endMs, hole }: Fragment): void {
    const { durationMs, reason } = hole!
    this.#onGap?.({ cameraId, startMs: endMs - durationMs, endMs, reason })
  }

  #entriesOf(cameraId: number): Entry[] {
    let entries = this.#entries.get(cameraId)
    if (!entries) this.#entries.set(cameraId, (entries = []))
    return entries
  }

  #find(cameraId: number, path: string): Entry | undefined {
    // The last one: in another place there may be an older file of that name.
    return this.#entries.get(cameraId)?.findLast(({ opened }) => opened.path === path)
  }

  /** What was reported is what exists. A file without any fragment is deleted. */
  #finishWith(entry: Entry, checksum: number | undefined): void {
    entry.isClosed = true
    if (this.#waitingFragments + entry.fragments.length > this.#maxWaitingFragments) {
      entry.fragments.length = 0
      entry.isForgotten = true
    }
    entry.waiting = entry.fragments.length
    this.#waitingFragments += entry.waiting
    this.#enqueue(entry.opened.cameraId, async () => {
      const { id } = entry
      if (id === undefined) return // the server closed before the row was written
      if (entry.isForgotten) {
        entry.isAbandoned = true
        this.repair.add(toSegment(entry, id), () => this.#leave(entry))
      } else {
        const { endMs, bytes, fragments } = toSegment(entry, id)
        const { path } = entry.opened
        const values = { endMs, bytes, fragments, checksum, path }
        if (fragments.length === 0) await deleteSegments(this.#context, [id])
        else if (!(await this.#rows.close(id, values, entry.lease))) {
          // A database that was promoted lacks what was committed last.
          entry.id = await this.#rows.insertOpen(entry.opened, undefined, entry.lease)
          await this.#rows.close(entry.id, values, entry.lease)
        }
        this.#leave(entry)
      }
      this.#settle(entry)
    })
  }

  #settle(entry: Entry): void {
    this.#waitingFragments -= entry.waiting
    entry.waiting = 0
  }

  #abandon(entry: Entry): void {
    entry.isClosed = true
    entry.isAbandoned = true
    this.#enqueue(entry.opened.cameraId, async () => {
      // Until then, it is listed as it was reported.
      if (entry.id !== undefined) this.repair.add(toSegment(entry, entry.id), () => this.#leave(entry))
    })
  }

  #leave(entry: Entry): void {
    const { cameraId } = entry.opened
    const entries = this.#entriesOf(cameraId)
    const at = entries.indexOf(entry)
    if (at >= 0) entries.splice(at, 1)
    this.#notify(cameraId)
  }

  #listInMemory(cameraId: number, startMs: number, endMs: number): Segment[] {
    const segments: Segment[] = []
    for (const entry of this.#entries.get(cameraId) ?? []) {
      if (entry.id === undefined || entry.fragments.length === 0) continue
      const segment = toSegment(entry, entry.id)
      if (segment.startMs < endMs && segment.endMs > startMs) segments.push(segment)
    }
    return segments
  }

  #notify(cameraId: number): void {
    for (const listener of this.#listeners.get(cameraId) ?? []) listener()
  }

  /** Runs one operation at a time for each camera, and retries until the store accepts it. */
  #enqueue(cameraId: number, step: (isRetry: boolean) => Promise<void>): void {
    const queue = this.#work.get(cameraId) ?? new SerialQueue()
    this.#work.set(cameraId, queue)
    const work = queue.run(() => this.#untilDone('index of recordings not written', cameraId, step))
    void work.finally(() => {
      if (queue.size === 0) this.#work.delete(cameraId)
    })
  }

  /** Until the server stops, or another one has the camera. */
  async #untilDone(
    failure: string,
    cameraId: number | undefined,
    step: (isRetry: boolean) => Promise<void>,
  ): Promise<void> {
    const backoff = new Backoff({ minMs: 500, maxMs: 30_000 })
    for (let isRetry = false; ; isRetry = true) {
      try {
        return await step(isRetry)
      } catch (error) {
        if (error instanceof LostLease) return this.#onLostLease(error)
        this.#log.error({ cameraId, error: errorChain(error) }, failure)
        if (this.#stop.signal.aborted) return
        await this.#retry.wait(this.#clock, backoff.nextMs(), this.#stop.signal)
      }
    }
  }
}
