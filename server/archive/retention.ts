// Deletes footage that must go: pass after pass while the server runs. What must go is planned in retention-plan.ts.

import { setImmediate } from 'node:timers/promises'
import { errorChain } from '../base/error.ts'
import { type DiskSpace, freeFloorBytes, reserveBytes } from '../model/free-space.ts'
import { isArchiveThere } from './archive-folder.ts'
import { type DeletionContext, finishPendingDeletions } from './deletion.ts'
import { DeletionSteps } from './deletion-steps.ts'
import { measureDisk } from './disk-space.ts'
import { type Doomed, planRetention, type RetentionLimits, type RetentionReason } from './retention-plan.ts'

export type RetentionOptions = DeletionContext & {
  readonly loadLimits: () => Promise<RetentionLimits>
  /** Of the files being recorded, by camera. */
  readonly openBytes: () => ReadonlyMap<number, number>
  /** Bytes recorded so far; never decreases. */
  readonly recordedBytes: () => number
  /** As configured; see `freeFloorBytes`. */
  readonly minFreeBytes: number | undefined
  /** The time by which footage is too old; default: the clock's. */
  readonly deletionMs?: () => number
  /** Default: asks the system. */
  readonly measureDisk?: (folder: string) => Promise<DiskSpace>
}

export type RetentionReport = {
  segments: number
  bytes: number
  /** Segments by why they went. */
  readonly reasons: Partial<Record<RetentionReason, number>>
}

const intervalMs = 10_000
/** Deleting is everyday work: the log tells the first time, then what came together in an hour. */
const tellIntervalMs = 3600_000
/** However often somebody wakes it. */
const minIntervalMs = 1000

export class Retention {
  readonly #options: RetentionOptions
  readonly #steps = new DeletionSteps()
  #recordedBytes = 0
  #isAwake = false
  #wake = () => {}
  #deleted = { segments: 0, bytes: 0 }
  #untold = emptyReport()
  #tellAtMs = Number.NEGATIVE_INFINITY
  #disk: DiskSpace | undefined
  /** Less is free than should be. */
  #isShort = false

  constructor(options: RetentionOptions) {
    this.#options = options
  }

  /** Passes until `signal` aborts. Throws what a pass throws: to be run again by the caller. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    while (!signal.aborted) {
      await this.pass(signal)
      await clock.sleep(minIntervalMs, signal).catch(() => {})
      await this.#sleep(intervalMs - minIntervalMs, signal)
    }
  }

  /** The next pass comes at once: the disk is full. */
  wake(): void {
    this.#isAwake = true
    this.#wake()
  }

  /**
   * Once through all limits; nothing happens while the archive's disk is away. Throws the database's and the system's errors; what was
   * begun is finished by the next.
   */
  async pass(signal: AbortSignal): Promise<RetentionReport> {
    const { archiveDir } = this.#options
    const report = emptyReport()
    // Files that cannot be seen would count as deleted.
    if (!(await isArchiveThere(archiveDir))) {
      this.#disk = undefined
      return report
    }
    await finishPendingDeletions(this.#options)
    const onDeleted = ({ bytes, reason }: Doomed) => {
      for (const counted of [report, this.#untold]) {
        counted.segments++
        counted.bytes += bytes
        counted.reasons[reason] = (counted.reasons[reason] ?? 0) + 1
      }
      this.#deleted.segments++
      this.#deleted.bytes += bytes
    }
    const plan = await this.plan()
    await this.#steps.delete(this.#options, plan, { signal, onDeleted, isUrgent: this.#isShort })
    this.#tell()
    return report
  }

  /** What must go now; reads only. */
  async plan(): Promise<AsyncIterable<Doomed>> {
    const { rows, clock, loadLimits, openBytes, deletionMs = () => clock.nowMs() } = this.#options
    const missingBytes = await this.#measureMissing()
    this.#isShort = missingBytes > 0
    return planRetention({
      rows,
      rest: () => setImmediate(),
      limits: await loadLimits(),
      nowMs: deletionMs(),
      openBytes: openBytes(),
      missingBytes,
    })
  }

  stats() {
    const { steps, p95Ms } = this.#steps.stats()
    return { ...this.#deleted, steps, stepP95Ms: p95Ms, disk: this.#disk }
  }

  #tell(): void {
    const { clock, log } = this.#options
    const told = this.#untold
    if (told.segments === 0 || clock.monotonicMs() < this.#tellAtMs) return
    this.#tellAtMs = clock.monotonicMs() + tellIntervalMs
    this.#untold = emptyReport()
    log.info({ ...told }, 'old recordings deleted')
    if (told.reasons.disk_space) {
      log.warn({ segments: told.reasons.disk_space }, 'recordings deleted before their time: the disk is full')
    }
  }

  /** How much less is free than should be; below 0 when there is more. */
  async #measureMissing(): Promise<number> {
    const { archiveDir, log, minFreeBytes, recordedBytes } = this.#options
    const recent = recordedBytes() - this.#recordedBytes
    this.#recordedBytes += recent
    try {
      const disk = await (this.#options.measureDisk ?? measureDisk)(archiveDir)
      this.#disk = disk
      return freeFloorBytes(disk, minFreeBytes) + reserveBytes(disk, recent) - disk.freeBytes
    } catch (error) {
      // The other limits hold whether the disk is there or not.
      this.#disk = undefined
      log.warn({ error: errorChain(error) }, 'free space of the disk not known')
      return 0
    }
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    const waking = new AbortController()
    this.#wake = () => waking.abort()
    if (this.#isAwake) waking.abort()
    await this.#options.clock.sleep(ms, AbortSignal.any([signal, waking.signal])).catch(() => {})
    this.#isAwake = false
  }
}

function emptyReport(): RetentionReport {
  return { segments: 0, bytes: 0, reasons: {} }
}
