// Measures how much space footage takes, how fast it grows, and what follows from that. It reads counters and the
// covering index on request, and caches the result briefly.

import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { type CameraLoad, type Forecast, forecastStorage } from '../model/forecast.ts'
import { type DiskSpace, freeFloorBytes } from '../model/free-space.ts'
import type { ClockDoubt } from './deletion-clock.ts'
import { measureArchiveDisk } from './disk-space.ts'
import type { RetentionLimits } from './retention-plan.ts'
import type { SegmentRows } from './segment-rows.ts'

export type StorageMeterOptions = {
  readonly rows: Pick<SegmentRows, 'listUsage' | 'sumBytes' | 'findBounds'>
  readonly archiveDir: string
  readonly clock: Clock
  readonly log: Logger
  readonly loadLimits: () => Promise<RetentionLimits>
  /** Bytes of the files being recorded, by camera. */
  readonly openBytes: () => ReadonlyMap<number, number> | Promise<ReadonlyMap<number, number>>
  /** As configured. See `freeFloorBytes`. */
  readonly minFreeBytes: number | undefined
  readonly doubt: () => ClockDoubt | undefined
  /** Default: asks the system. */
  readonly measureDisk?: (folder: string) => Promise<DiskSpace>
}

export type CameraStorage = CameraLoad & {
  /** The start of its oldest footage, in Unix milliseconds. Undefined when there is none. */
  readonly firstMs: number | undefined
  /** How far back footage will reach at the current rate. Infinite when nothing limits it, or nothing is recorded. */
  readonly reachMs: number
}

export type StorageReport = {
  readonly atMs: number
  /** Cameras that have footage or are being recorded, in the order of their ids. */
  readonly cameras: readonly CameraStorage[]
  readonly limits: RetentionLimits
  readonly forecast: Forecast
  /** Undefined when the disk does not answer or is not mounted. */
  readonly disk: (DiskSpace & { readonly floorBytes: number }) | undefined
  /** Set while the machine's clock is not trusted. */
  readonly doubt: ClockDoubt | undefined
}

/** The current rate is measured over this time. */
const rateWindowMs = 86_400_000
/** With less footage, no rate can be computed. */
const minWindowMs = 60_000
const keptMs = 30_000

export class StorageMeter {
  readonly #options: StorageMeterOptions
  #kept: Promise<StorageReport> | undefined
  #readAtMs = Number.NEGATIVE_INFINITY

  constructor(options: StorageMeterOptions) {
    this.#options = options
  }

  /** At most half a minute old. Throws the database's errors. */
  read(): Promise<StorageReport> {
    const nowMs = this.#options.clock.monotonicMs()
    if (!this.#kept || nowMs - this.#readAtMs > keptMs) {
      this.#readAtMs = nowMs
      this.#kept = this.#read()
      this.#kept.catch(() => {
        this.#kept = undefined
      })
    }
    return this.#kept
  }

  /** Discards the cached values after a limit was changed. */
  forget(): void {
    this.#kept = undefined
  }

  async #read(): Promise<StorageReport> {
    const { clock, rows, loadLimits, doubt } = this.#options
    const atMs = clock.nowMs()
    const limits = await loadLimits()
    const openBytes = await this.#options.openBytes()
    const used = new Map((await rows.listUsage()).map(({ cameraId, bytes }) => [cameraId, bytes]))
    const disk = await this.#measureDisk()
    const limitsOf = new Map(limits.cameras.map((camera) => [camera.cameraId, camera]))
    const ids = new Set([...used.keys(), ...openBytes.keys(), ...limitsOf.keys()])
    const loads: (CameraLoad & Pick<CameraStorage, 'firstMs'>)[] = []
    for (const cameraId of [...ids].sort((a, b) => a - b)) {
      const own = limitsOf.get(cameraId)
      const open = openBytes.get(cameraId) ?? 0
      const firstMs = (await rows.findBounds(cameraId))?.startMs
      const ageMs = Math.max(0, atMs - (firstMs ?? atMs))
      loads.push({
        cameraId,
        ownerId: own?.ownerId,
        bytes: (used.get(cameraId) ?? 0) + open,
        bytesPerMs: own?.isRecorded ? await this.#findRate(cameraId, { atMs, ageMs, open }) : 0,
        ageMs,
        maxAgeMs: own?.maxAgeMs,
        maxBytes: own?.maxBytes,
        firstMs,
      })
    }
    const usedBytes = loads.reduce((sum, { bytes }) => sum + bytes, 0)
    const forecast = forecastStorage(loads, {
      users: limits.users,
      archiveBytes: limits.maxBytes,
      diskBytes: disk && usedBytes + disk.freeBytes - disk.floorBytes,
    })
    const cameras = loads.map((load) => ({ ...load, reachMs: forecast.reachMs.get(load.cameraId)! }))
    return { atMs, cameras, limits, forecast, disk, doubt: doubt() }
  }

  async #findRate(cameraId: number, now: { atMs: number; ageMs: number; open: number }): Promise<number> {
    const windowMs = Math.min(rateWindowMs, now.ageMs)
    if (windowMs < minWindowMs) return 0
    const bytes = await this.#options.rows.sumBytes(cameraId, now.atMs - windowMs, now.atMs + 1)
    return (bytes + now.open) / windowMs
  }

  async #measureDisk(): Promise<StorageReport['disk']> {
    const { archiveDir, log, minFreeBytes } = this.#options
    try {
      const disk = await (this.#options.measureDisk ?? measureArchiveDisk)(archiveDir)
      return { ...disk, floorBytes: freeFloorBytes(disk, minFreeBytes) }
    } catch (error) {
      log.warn({ error: errorChain(error) }, 'the free disk space could not be determined')
      return undefined
    }
  }
}
