// Deletes footage by the limits of retention, repeatedly while the server runs. retention-plan.ts decides what is
// deleted.

import { setImmediate } from 'node:timers/promises'
import { errorChain } from '../base/error.ts'
import { Notifier } from '../base/notifier.ts'
import { pause } from '../base/pause.ts'
import { type DiskSpace, freeFloorBytes, reserveBytes, reserveFiles } from '../model/free-space.ts'
import type { OpenFootage } from '../model/segment-views.ts'
import { type DeletionContext, finishPendingDeletions } from './deletion.ts'
import { DeletionSteps } from './deletion-steps.ts'
import { type PlannedDeletion, planRetention, type RetentionLimits, type RetentionReason } from './retention-plan.ts'

export type RetentionOptions = DeletionContext & {
  readonly loadLimits: () => Promise<RetentionLimits>
  /** The files being recorded. */
  readonly openFootage: () => readonly OpenFootage[]
  /** Bytes recorded so far. Never decreases. */
  readonly recordedBytes: () => number
  /** As configured. See `freeFloorBytes`. */
  readonly minFreeBytes: number | undefined
  /** The time used for deletion by age. Default: the clock's time. */
  readonly deletionMs?: () => number
  /** Default: asks the system. */
  readonly measureDisk?: (folder: string) => Promise<DiskSpace | undefined>
}

export type RetentionReport = {
  segments: number
  bytes: number
  /** Deleted segments by reason. */
  readonly reasons: Partial<Record<RetentionReason, number>>
}

const intervalMs = 10_000
/** Deletions are routine. The log reports the first one, then totals once an hour. */
const reportIntervalMs = 3600_000
/** The minimum interval between passes, however often retention is woken. */
const minIntervalMs = 1000
/** What is deleted in a place that refuses to take more, whatever the system says about its free space. */
const refusedBytes = 8 * 2 ** 20
const refusedFiles = 8
/** How long less is kept in such a place than it held then. Somebody may raise the quota. */
const refusalMs = 3_600_000

/** A disk that others fill for a moment refuses too. What goes on for so long, although space is free, is a quota. */
const leastRefusalMs = 2000
/** Refusals that are further apart have nothing to do with each other. */
const longestPauseMs = 60_000

/** Bytes that a place held when it refused to take more, less what was deleted for it. */
type Refusal = { readonly maxBytes: number; readonly untilMs: number }

export class Retention {
  readonly #options: RetentionOptions
  readonly #steps = new DeletionSteps()
  #recordedBytes = 0
  #isAwake = false
  readonly #woken = new Notifier()
  #deleted = { segments: 0, bytes: 0 }
  #unreported = emptyReport()
  #reportAtMs = Number.NEGATIVE_INFINITY
  /** By place; without those that are away or do not answer. */
  #disks: ReadonlyMap<number, DiskSpace> = new Map()
  /** Less space is free than required. */
  #isShort = false
  /** Places that refused to take more since the last pass. */
  readonly #refused = new Set<number>()
  /** Since when a place refuses although space is free, and when it last did, by the monotonic clock. */
  readonly #refusing = new Map<number, { readonly sinceMs: number; readonly lastMs: number }>()
  readonly #refusals = new Map<number, Refusal>()

  constructor(options: RetentionOptions) {
    this.#options = options
  }

  /** Runs passes until `signal` aborts. Throws the errors of a pass; the caller runs it again. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    while (!signal.aborted) {
      await this.pass(signal)
      await pause(clock, minIntervalMs, signal)
      await this.#sleep(intervalMs - minIntervalMs, signal)
    }
  }

  /** Starts the next pass at once, because the disk is full. */
  wake(): void {
    this.#isAwake = true
    this.#woken.notify()
  }

  /** A write in this place failed because it is full: a quota, or the number of files, may be used up. */
  noteFull(placeId: number): void {
    this.#refused.add(placeId)
    this.wake()
  }

  /**
   * Checks all limits once, in the places that are there. Throws the database's and the
   * system's errors, and the next pass completes what was begun.
   */
  async pass(signal: AbortSignal): Promise<RetentionReport> {
    const report = emptyReport()
    await finishPendingDeletions(this.#options)
    const onDeleted = ({ bytes, reason }: PlannedDeletion) => {
      for (const counted of [report, this.#unreported]) {
        counted.segments++
        counted.bytes += bytes
        counted.reasons[reason] = (counted.reasons[reason] ?? 0) + 1
      }
      this.#deleted.segments++
      this.#deleted.bytes += bytes
    }
    const plan = await this.plan()
    await this.#steps.delete(this.#options, plan, { signal, onDeleted, isUrgent: this.#isShort })
    this.#logDeletions()
    return report
  }

  /** Lists what must be deleted now. It only reads. */
  async plan(): Promise<AsyncIterable<PlannedDeletion>> {
    const { rows, places, clock, loadLimits, openFootage, deletionMs = () => clock.nowMs() } = this.#options
    const { missingBytes, missingFiles } = await this.#measureMissing()
    this.#isShort = [...missingBytes.values(), ...missingFiles.values()].some((missing) => missing > 0)
    return planRetention({
      rows,
      rest: () => setImmediate(),
      limits: await loadLimits(),
      nowMs: deletionMs(),
      open: openFootage(),
      missingBytes,
      missingFiles,
      ownPlaces: new Set(places.all.map(({ id }) => id)),
    })
  }

  stats() {
    const { steps, p95Ms } = this.#steps.stats()
    return { ...this.#deleted, steps, stepP95Ms: p95Ms, disks: this.#disks }
  }

  #logDeletions(): void {
    const { clock, log } = this.#options
    const report = this.#unreported
    if (report.segments === 0 || clock.monotonicMs() < this.#reportAtMs) return
    this.#reportAtMs = clock.monotonicMs() + reportIntervalMs
    this.#unreported = emptyReport()
    log.info({ ...report }, 'old recordings were deleted')
    if (report.reasons.disk_space) {
      log.warn({ segments: report.reasons.disk_space }, 'the disk is full; recordings were deleted before they expired')
    }
  }

  /**
   * How much less space is free than required, and how many fewer files fit, in each place that is there; negative when
   * there is more. Files of the others are not visible, and would count as deleted.
   */
  async #measureMissing() {
    const { places, log, minFreeBytes, recordedBytes } = this.#options
    const recent = recordedBytes() - this.#recordedBytes
    this.#recordedBytes += recent
    const disks = new Map<number, DiskSpace>()
    const missingBytes = new Map<number, number>()
    const missingFiles = new Map<number, number>()
    for (const { id, folder } of await places.listPresent()) {
      // The other limits apply whether or not the disk answers, and knows its size.
      missingBytes.set(id, 0)
      try {
        const disk = await (this.#options.measureDisk?.(folder) ?? places.filesOf(id).measure())
        if (!disk) continue
        disks.set(id, disk)
        missingBytes.set(id, freeFloorBytes(disk, minFreeBytes) + reserveBytes(disk, recent) - disk.freeBytes)
        if (disk.freeFiles !== undefined) missingFiles.set(id, reserveFiles(disk) - disk.freeFiles)
      } catch (error) {
        log.warn({ folder, error: errorChain(error) }, 'the free disk space could not be determined')
      }
    }
    this.#disks = disks
    await this.#addRefusals(missingBytes, missingFiles)
    return { missingBytes, missingFiles }
  }

  /** What a place that refused to take more should hold less, now and for a while. */
  async #addRefusals(missingBytes: Map<number, number>, missingFiles: Map<number, number>): Promise<void> {
    const { clock, openFootage, rows, log } = this.#options
    const nowMs = clock.monotonicMs()
    for (const [id, { untilMs }] of this.#refusals) if (nowMs >= untilMs) this.#refusals.delete(id)
    const isShort = (id: number) => (missingBytes.get(id) ?? 0) > 0 || (missingFiles.get(id) ?? 0) > 0
    const refused = [...this.#refused].filter(
      (id) => missingBytes.has(id) && !isShort(id) && this.#isRefusing(id, nowMs),
    )
    this.#refused.clear()
    if (refused.length === 0 && this.#refusals.size === 0) return
    const bytesOf = new Map<number, number>()
    for (const { placeId, bytes } of [...(await rows.listUsage()), ...openFootage()])
      bytesOf.set(placeId, (bytesOf.get(placeId) ?? 0) + bytes)
    for (const id of refused) {
      const bytes = bytesOf.get(id) ?? 0
      const deletedBytes = Math.min(refusedBytes, bytes / 10)
      if (!this.#refusals.has(id))
        log.warn(
          { place: id, bytes },
          'a place takes no more although space is free: a quota or the number of files may be used up. Old recordings are deleted instead',
        )
      this.#refusals.set(id, { maxBytes: bytes - deletedBytes, untilMs: nowMs + refusalMs })
      missingFiles.set(id, Math.max(missingFiles.get(id) ?? 0, refusedFiles))
    }
    for (const [id, { maxBytes }] of this.#refusals) {
      const missing = missingBytes.get(id)
      if (missing !== undefined) missingBytes.set(id, Math.max(missing, (bytesOf.get(id) ?? 0) - maxBytes))
    }
  }

  /** Notes that the place refused to take more although space is free. Returns whether it has done so for a while. */
  #isRefusing(id: number, nowMs: number): boolean {
    const before = this.#refusing.get(id)
    const sinceMs = before && nowMs - before.lastMs <= longestPauseMs ? before.sinceMs : nowMs
    this.#refusing.set(id, { sinceMs, lastMs: nowMs })
    return nowMs - sinceMs >= leastRefusalMs
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isAwake) await this.#woken.wait(this.#options.clock, ms, signal)
    this.#isAwake = false
  }
}

function emptyReport(): RetentionReport {
  return { segments: 0, bytes: 0, reasons: {} }
}
