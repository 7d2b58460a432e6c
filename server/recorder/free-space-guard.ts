// Refuses writes that would use the reserved free space. It asks the system rarely while there is plenty of space, and
// before every write when there is little.

import type { Clock } from '../base/clock.ts'
import { SingleFlight } from '../base/single-flight.ts'
import { freeFloorBytes } from '../model/free-space.ts'
import { measureDisk } from '../places/place-folder.ts'
import { createDiskError } from './disk-error.ts'

export type FreeSpaceOptions = {
  readonly folder: string
  /** The configured value; see `freeFloorBytes`. */
  readonly minFreeBytes: number | undefined
  readonly clock: Clock
  /** Default: asks the system. */
  readonly measure?: typeof measureDisk
}

const maxAgeMs = 1000
const nearBytes = 64 * 2 ** 20

export class FreeSpaceGuard {
  readonly #options: FreeSpaceOptions
  #budgetBytes = 0
  #measuredAtMs = Number.NEGATIVE_INFINITY
  readonly #measuring = new SingleFlight<void>()

  constructor(options: FreeSpaceOptions) {
    this.#options = options
  }

  /** Must be called before this many bytes are written. Throws an error of a full disk, or the system's error. */
  async reserve(bytes: number): Promise<void> {
    const isOld = this.#options.clock.monotonicMs() - this.#measuredAtMs > maxAgeMs
    if (isOld || this.#budgetBytes < bytes + nearBytes) {
      await this.#measuring.run(() => this.#measure())
    }
    if (this.#budgetBytes < bytes) {
      throw createDiskError(
        'EFLOOR',
        `${Math.max(0, this.#budgetBytes)} bytes are left above the space that stays free`,
      )
    }
    this.#budgetBytes -= bytes
  }

  async #measure(): Promise<void> {
    const { folder, clock, minFreeBytes, measure = measureDisk } = this.#options
    const disk = await measure(folder)
    this.#budgetBytes = disk ? disk.freeBytes - freeFloorBytes(disk, minFreeBytes) : Number.POSITIVE_INFINITY
    this.#measuredAtMs = clock.monotonicMs()
  }
}
