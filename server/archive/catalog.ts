// What footage there is: closed segments through the store, the open ones in memory, fragment by fragment as they are written.
// The only owner of that knowledge on the main thread; the recorders tell it, playback and the timeline ask it.

import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { Backoff } from '../base/retry.ts'
import type { Fragment, Segment } from '../model/segment.ts'
import type { OpenSegment, SegmentSpan } from '../model/segment-views.ts'
import { adoptNewerFiles, type KnownCamera } from './adoption.ts'
import { isArchiveThere } from './archive-folder.ts'
import { type DeletionContext, deleteLeftGarbage, deleteSegments } from './deletion.ts'
import { removeFootage } from './removal.ts'
import { createRepairReport, type RepairReport, repairSegment } from './repair.ts'
import type { SegmentRows } from './segment-rows.ts'

export type CatalogOptions = {
  readonly rows: SegmentRows
  readonly archiveDir: string
  readonly clock: Clock
  readonly log: Logger
  /** Told when there is footage again after a while without, in order; must not throw. */
  readonly onGap?: (gap: FootageGap) => void
}

/** No footage in [startMs, endMs), though there was some before; Unix milliseconds. `reason`: as in the timeline. */
export type FootageGap = {
  readonly cameraId: number
  readonly startMs: number
  readonly endMs: number
  readonly reason: string
}

/** Told after a fragment or the end of a segment is to be seen in `listSegments`. */
export type FootageListener = () => void

/** How often to look for a disk that is away. */
const awayIntervalMs = 5000

type Entry = {
  opened: OpenSegment
  /** Undefined until the row is written; until then the segment is not listed. */
  id: number | undefined
  readonly fragments: Fragment[]
  /** True once no fragment will come. */
  isClosed: boolean
}

export class Catalog {
  readonly archiveDir: string
  readonly #rows: SegmentRows
  readonly #clock: Clock
  readonly #log: Logger
  readonly #onGap: CatalogOptions['onGap']
  /** Oldest first; those before the last are closed and wait for their row. */
  readonly #entries = new Map<number, Entry[]>()
  /** Work on the rows of a camera, in order. */
  readonly #work = new Map<number, Promise<void>>()
  readonly #listeners = new Map<number, Set<FootageListener>>()
  /** Cameras that have opened a segment since this process began. */
  readonly #seen = new Set<number>()
  readonly #stop = new AbortController()
  #recordedBytes = 0

  constructor({ rows, archiveDir, clock, log, onGap }: CatalogOptions) {
    this.archiveDir = archiveDir
    this.#rows = rows
    this.#clock = clock
    this.#log = log
    this.#onGap = onGap
  }

  /**
   * Before any recorder starts: closes the segments that were open when the server ended, then gives rows to files of these cameras
   * that the crash left without. For an archive that is there; see archive-folder.ts.
   */
  async repairOpen(cameras: readonly KnownCamera[] = []): Promise<RepairReport> {
    const report = await this.repairSegments(await this.#rows.listOpen())
    // What was about to go must not be taken for footage without a row.
    await deleteLeftGarbage(this.#context)
    for (const camera of cameras) {
      await this.#try('recordings without an entry not looked for', `camera ${camera.id}`, async () => {
        const { adopted, empty } = await adoptNewerFiles(this.#context, camera)
        report.adopted += adopted
        report.removed += empty
      })
    }
    if (report.adopted > 0) this.#log.info({ adopted: report.adopted }, 'recordings without an entry got one')
    return report
  }

  /** Keeps their whole fragments, cuts off what follows, removes files without any. None of them may be in the hands of a recorder. */
  async repairSegments(segments: readonly Segment[]): Promise<RepairReport> {
    const report = createRepairReport()
    for (const segment of segments) {
      await this.#try('recording not repaired', segment.path, () => repairSegment(this.#context, segment, report))
    }
    if (segments.length > 0) this.#log.info({ ...report }, 'open segments repaired')
    return report
  }

  /** As `repairSegments`, once the archive is where it should be; not any more when `signal` aborts first. */
  async repairWhenThere(segments: readonly Segment[], signal: AbortSignal): Promise<void> {
    await this.#waitForArchive(signal)
    if (!signal.aborted) await this.repairSegments(segments)
  }

  segmentOpened(opened: OpenSegment): void {
    const { cameraId } = opened
    const entries = this.#entriesOf(cameraId)
    const abandoned = entries.at(-1)
    if (abandoned && !abandoned.isClosed) this.#finish(abandoned, (id) => this.#repair(toSegment(abandoned, id)))
    const entry: Entry = { opened, id: undefined, fragments: [], isClosed: false }
    entries.push(entry)
    const isFirst = !this.#seen.has(cameraId)
    this.#seen.add(cameraId)
    this.#enqueue(cameraId, async () => {
      const isAfterRestart =
        isFirst && opened.gapReason === undefined && (await this.#rows.findBounds(cameraId)) !== undefined
      if (isAfterRestart) entry.opened = { ...opened, gapReason: 'server_down' }
      entry.id = await this.#rows.insertOpen(entry.opened)
      this.#notify(cameraId)
    })
  }

  fragmentWritten(cameraId: number, path: string, fragment: Fragment): void {
    const entry = this.#find(cameraId, path)
    if (!entry || entry.isClosed) return
    entry.fragments.push(fragment)
    this.#recordedBytes += fragment.bytes
    if (entry.fragments.length === 1 && this.#onGap) this.#tellGap(entry, fragment, this.#onGap)
    this.#notify(cameraId)
  }

  segmentClosed(cameraId: number, path: string, checksum?: number): void {
    const entry = this.#find(cameraId, path)
    if (!entry || entry.isClosed) return
    this.#finish(entry, async (id) => {
      const { endMs, bytes, fragments } = toSegment(entry, id)
      if (fragments.length > 0) await this.#rows.close(id, { endMs, bytes, fragments, checksum })
      else await deleteSegments(this.#context, [id])
    })
  }

  /** The disk refused to sync the file: how far it goes is known when it can be read again. */
  segmentBroken(cameraId: number, path: string): void {
    const entry = this.#find(cameraId, path)
    if (entry && !entry.isClosed) this.#finish(entry, (id) => this.#repair(toSegment(entry, id)))
  }

  /** The recorder of this camera died without closing its file: what it wrote whole is kept, as after a crash. */
  async abandon(cameraId: number): Promise<void> {
    for (const entry of this.#entriesOf(cameraId)) {
      if (!entry.isClosed) this.#finish(entry, (id) => this.#repair(toSegment(entry, id)))
    }
    await this.#work.get(cameraId)
  }

  /** Segments that overlap [startMs, endMs), in the order of their start, the open one included. */
  async listSegments(cameraId: number, startMs: number, endMs: number): Promise<Segment[]> {
    const open = this.#listInMemory(cameraId, startMs, endMs)
    const closed = await this.#rows.listBetween(cameraId, startMs, endMs)
    return mergeById(closed, open)
  }

  /** As `listSegments`, without fragments. */
  async listSpans(cameraId: number, startMs: number, endMs: number): Promise<SegmentSpan[]> {
    const open = this.#listInMemory(cameraId, startMs, endMs)
    const closed = await this.#rows.listSpans(cameraId, startMs, endMs)
    // A segment whose row was closed in between is in both lists.
    const isKnown = (s: Segment) => closed.slice(-8).some((c) => c.startMs === s.startMs && c.runId === s.runId)
    const fresh = open.filter((segment) => !isKnown(segment))
    return [...closed, ...fresh].sort((a, b) => a.startMs - b.startMs)
  }

  /** The segment as it is now, or undefined when there is none (any more). */
  async findSegment(id: number): Promise<Segment | undefined> {
    for (const entries of this.#entries.values()) {
      const entry = entries.find((entry) => entry.id === id)
      if (entry) return toSegment(entry, id)
    }
    const segment = await this.#rows.find(id)
    return segment?.isClosed ? segment : undefined
  }

  /** First and newest footage; undefined when there is none. */
  async bounds(cameraId: number): Promise<{ startMs: number; endMs: number } | undefined> {
    const open = this.#listInMemory(cameraId, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
    const closed = await this.#rows.findBounds(cameraId)
    const first = open[0]
    const last = open.at(-1)
    if (!first || !last) return closed
    return {
      startMs: Math.min(first.startMs, closed?.startMs ?? first.startMs),
      endMs: Math.max(last.endMs, closed?.endMs ?? last.endMs),
    }
  }

  /** True while a file of the camera is open. */
  isRecording(cameraId: number): boolean {
    return this.#entries.get(cameraId)?.some(({ isClosed }) => !isClosed) ?? false
  }

  /**
   * Deletes all footage of a camera, however often that takes: nothing else would, as nobody has the camera any more. Its recorder must
   * have closed.
   */
  async removeCamera(cameraId: number): Promise<void> {
    await this.abandon(cameraId)
    const { signal } = this.#stop
    await this.#untilDone('footage of a removed camera not deleted', cameraId, async () => {
      await this.#waitForArchive(signal)
      if (!signal.aborted) await removeFootage(this.#context, cameraId, signal)
    })
    this.#entries.delete(cameraId)
    this.#seen.delete(cameraId)
  }

  /** Bytes of the files that are open, or closed and waiting for their row, by camera. */
  openBytes(): Map<number, number> {
    const bytes = new Map<number, number>()
    for (const [cameraId, entries] of this.#entries) {
      if (entries.length > 0)
        bytes.set(
          cameraId,
          entries.reduce((sum, entry) => sum + bytesOf(entry), 0),
        )
    }
    return bytes
  }

  /** Returns the function that ends it. */
  onFragment(cameraId: number, listener: FootageListener): () => void {
    const listeners = this.#listeners.get(cameraId) ?? new Set()
    this.#listeners.set(cameraId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(cameraId) === listeners) this.#listeners.delete(cameraId)
    }
  }

  /** Resolves when the rows tell all that has been reported so far of this camera, or of all. */
  async flush(cameraId?: number): Promise<void> {
    await (cameraId === undefined ? Promise.all(this.#work.values()) : this.#work.get(cameraId))
  }

  /** Writes what is left; gives up what the store refuses. Call after the recorders have closed. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.flush()
  }

  /** `recordedBytes`: of fragments, since this process began. */
  stats(): { openSegments: number; recordedBytes: number } {
    let openSegments = 0
    for (const entries of this.#entries.values()) openSegments += entries.length
    return { openSegments, recordedBytes: this.#recordedBytes }
  }

  get #context(): DeletionContext {
    return { rows: this.#rows, archiveDir: this.archiveDir, log: this.#log, clock: this.#clock }
  }

  /** Resolves at once when `signal` aborts. */
  async #waitForArchive(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !(await isArchiveThere(this.archiveDir))) {
      await this.#clock.sleep(awayIntervalMs, signal).catch(() => {})
    }
  }

  /** What fails is left as it is, and the next start tries again. */
  async #try(failure: string, path: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#log.error({ path, error: errorChain(error) }, failure)
    }
  }

  /** With its first fragment: a segment that ends without any is none, and the gap goes on. */
  #tellGap(entry: Entry, { startMs: endMs }: Fragment, onGap: (gap: FootageGap) => void): void {
    const { cameraId } = entry.opened
    // After the rows of what was before it, and after it was found out whether the server was down.
    this.#enqueue(cameraId, async () => {
      const { gapReason: reason } = entry.opened
      const before = reason === undefined ? undefined : await this.#rows.findBounds(cameraId)
      if (reason !== undefined && before && before.endMs < endMs)
        onGap({ cameraId, startMs: before.endMs, endMs, reason })
    })
  }

  #entriesOf(cameraId: number): Entry[] {
    let entries = this.#entries.get(cameraId)
    if (!entries) this.#entries.set(cameraId, (entries = []))
    return entries
  }

  #find(cameraId: number, path: string): Entry | undefined {
    return this.#entries.get(cameraId)?.find(({ opened }) => opened.path === path)
  }

  /** No fragment will come. The entry leaves memory when its row is written. */
  #finish(entry: Entry, writeRow: (id: number) => Promise<void>): void {
    const { cameraId } = entry.opened
    entry.isClosed = true
    this.#enqueue(cameraId, async () => {
      if (entry.id === undefined) return // given up when the server closed
      await writeRow(entry.id)
      const entries = this.#entriesOf(cameraId)
      entries.splice(entries.indexOf(entry), 1)
      this.#notify(cameraId)
    })
  }

  async #repair(segment: Segment): Promise<void> {
    await repairSegment(this.#context, segment, createRepairReport())
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

  /** One after the other for each camera, repeated until the store takes it. */
  #enqueue(cameraId: number, step: () => Promise<void>): void {
    const before = this.#work.get(cameraId) ?? Promise.resolve()
    const work = before
      .then(() => this.#untilDone('index of recordings not written', cameraId, step))
      .finally(() => {
        if (this.#work.get(cameraId) === work) this.#work.delete(cameraId)
      })
    this.#work.set(cameraId, work)
  }

  /** Until the server stops. */
  async #untilDone(failure: string, cameraId: number, step: () => Promise<void>): Promise<void> {
    const backoff = new Backoff({ minMs: 500, maxMs: 30_000 })
    for (;;) {
      try {
        return await step()
      } catch (error) {
        this.#log.error({ cameraId, error: errorChain(error) }, failure)
        if (this.#stop.signal.aborted) return
        await this.#clock.sleep(backoff.nextMs(), this.#stop.signal).catch(() => {})
      }
    }
  }
}

function toSegment(entry: Entry, id: number): Segment {
  const { opened, fragments } = entry
  const last = fragments.at(-1)
  return {
    ...opened,
    id,
    // A copy: what a reader was given does not change under it.
    fragments: fragments.slice(),
    endMs: last ? last.startMs + last.durationMs : opened.startMs,
    bytes: bytesOf(entry),
    isClosed: entry.isClosed,
  }
}

function bytesOf({ opened, fragments }: Entry): number {
  const last = fragments.at(-1)
  return last ? last.offset + last.bytes : opened.initBytes
}

function mergeById(closed: readonly Segment[], open: readonly Segment[]): Segment[] {
  const ids = new Set(closed.map(({ id }) => id))
  return [...closed, ...open.filter(({ id }) => !ids.has(id))].sort((a, b) => a.startMs - b.startMs || a.id - b.id)
}
