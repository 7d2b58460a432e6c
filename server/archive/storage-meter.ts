// Measures how much space footage takes, how fast it grows, and what follows from that. It reads counters and the
// covering index on request, and caches the result briefly.

import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { type CameraLoad, type Forecast, forecastStorage } from '../model/forecast.ts'
import { type DiskSpace, freeFloorBytes } from '../model/free-space.ts'
import type { Place } from '../model/place.ts'
import type { OpenFootage } from '../model/segment-views.ts'
import type { StateOfPlace } from '../places/place-files.ts'
import type { Places } from '../places/places.ts'
import type { ClockDoubt } from './deletion-clock.ts'
import type { RetentionLimits } from './retention-plan.ts'
import type { SegmentRows } from './segment-rows.ts'

export type StorageMeterOptions = {
  readonly rows: Pick<SegmentRows, 'listUsage' | 'sumBytes' | 'findBounds'>
  readonly places: Places
  readonly clock: Clock
  readonly log: Logger
  readonly loadLimits: () => Promise<RetentionLimits>
  /** The files being recorded. */
  readonly openFootage: () => readonly OpenFootage[] | Promise<readonly OpenFootage[]>
  /** As configured. See `freeFloorBytes`. */
  readonly minFreeBytes: number | undefined
  readonly doubt: () => ClockDoubt | undefined
  /** Default: asks the system. */
  readonly measureDisk?: (place: Place) => Promise<DiskSpace>
}

export type CameraStorage = CameraLoad & {
  /** The start of its oldest footage, in Unix milliseconds. Undefined when there is none. */
  readonly firstMs: number | undefined
  /** How far back footage will reach at the current rate. Infinite when nothing limits it, or nothing is recorded. */
  readonly reachMs: number
}

type MeasuredDisk = DiskSpace & { readonly floorBytes: number }

export type PlaceStorage = StateOfPlace & {
  readonly place: Place
  readonly bytes: number
  /** Undefined when it does not answer or is not mounted. */
  readonly disk: MeasuredDisk | undefined
  /** How long until its oldest footage is deleted to make room; infinite for never. */
  readonly fullMs: number
}

export type StorageReport = {
  readonly atMs: number
  /** Cameras that have footage or are being recorded, in the order of their ids. */
  readonly cameras: readonly CameraStorage[]
  /** Of the same cameras, what is in places of this server. */
  readonly here: readonly CameraLoad[]
  readonly limits: RetentionLimits
  readonly forecast: Forecast
  readonly places: readonly PlaceStorage[]
  /** All that answer together. Undefined when none does. */
  readonly disk: MeasuredDisk | undefined
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
  #keptOf: readonly Place[] = []

  constructor(options: StorageMeterOptions) {
    this.#options = options
  }

  /** At most half a minute old. Throws the database's errors. */
  read(): Promise<StorageReport> {
    const { clock, places } = this.#options
    const nowMs = clock.monotonicMs()
    if (!this.#kept || this.#keptOf !== places.all || nowMs - this.#readAtMs > keptMs) {
      this.#readAtMs = nowMs
      this.#keptOf = places.all
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
    const openFootage = await this.#options.openFootage()
    const openBytes = sumByCamera(openFootage)
    const usage = await rows.listUsage()
    const used = sumByCamera(usage)
    const ownPlaces = this.#options.places.all.map(({ id }) => id)
    const usageHere = usage.filter(({ placeId }) => ownPlaces.includes(placeId))
    const isShared = usageHere.length < usage.length
    const usedHere = sumByCamera(usageHere)
    const { states, disks } = await this.#measureDisks()
    const disk = disks.size > 0 ? [...disks.values()].reduce(addDisks) : undefined
    const limitsOf = new Map(limits.cameras.map((camera) => [camera.cameraId, camera]))
    const ids = new Set([...used.keys(), ...openBytes.keys(), ...limitsOf.keys()])
    const loads: (CameraLoad & Pick<CameraStorage, 'firstMs'>)[] = []
    const here: CameraLoad[] = []
    for (const cameraId of [...ids].sort((a, b) => a - b)) {
      const own = limitsOf.get(cameraId)
      const open = openBytes.get(cameraId) ?? 0
      const firstMs = (await rows.findBounds(cameraId))?.startMs
      const ageMs = Math.max(0, atMs - (firstMs ?? atMs))
      const findRate = async (placeIds?: readonly number[]) =>
        own?.isRecorded ? await this.#findRate(cameraId, { atMs, ageMs, open, placeIds }) : 0
      const load = {
        cameraId,
        ownerId: own?.ownerId,
        bytes: (used.get(cameraId) ?? 0) + open,
        bytesPerMs: await findRate(),
        ageMs,
        maxAgeMs: own?.maxAgeMs,
        maxBytes: own?.maxBytes,
        firstMs,
      }
      loads.push(load)
      const bytesHere = (usedHere.get(cameraId) ?? 0) + open
      here.push(isShared ? { ...load, bytes: bytesHere, bytesPerMs: await findRate(ownPlaces) } : load)
    }
    const usedBytes = here.reduce((sum, { bytes }) => sum + bytes, 0)
    const room = {
      users: limits.users,
      archiveBytes: limits.maxBytes,
      // What is moved to a bucket makes room.
      diskBytes:
        this.#options.places.buckets.length > 0 ? undefined : disk && usedBytes + disk.freeBytes - disk.floorBytes,
    }
    const forecast = forecastStorage(loads, room, here)
    const cameras = loads.map((load) => ({ ...load, reachMs: forecast.reachMs.get(load.cameraId)! }))
    const footage = [...usage, ...openFootage]
    const places = this.#describePlaces(here, footage, disks).map((each) => ({
      ...each,
      ...states.get(each.place.id)!,
    }))
    return { atMs, cameras, here, limits, forecast, places, disk, doubt: doubt() }
  }

  async #findRate(
    cameraId: number,
    {
      atMs,
      ageMs,
      open,
      placeIds,
    }: { atMs: number; ageMs: number; open: number; placeIds: readonly number[] | undefined },
  ): Promise<number> {
    const windowMs = Math.min(rateWindowMs, ageMs)
    if (windowMs < minWindowMs) return 0
    const bytes = await this.#options.rows.sumBytes(cameraId, atMs - windowMs, atMs + 1, placeIds)
    return (bytes + open) / windowMs
  }

  /** New footage is spread over the places that take it, in proportion to their weights. */
  #describePlaces(
    loads: readonly CameraLoad[],
    footage: readonly OpenFootage[],
    disks: ReadonlyMap<number, MeasuredDisk>,
  ): Omit<PlaceStorage, keyof StateOfPlace>[] {
    const { all } = this.#options.places
    const takes = ({ id, isDraining }: Place) => disks.has(id) && !isDraining
    const weights = all.filter(takes).reduce((sum, { weight }) => sum + weight, 0)
    return all.map((place) => {
      const disk = disks.get(place.id)
      const own = footage.filter(({ placeId }) => placeId === place.id)
      const bytesOf = sumByCamera(own)
      const bytes = own.reduce((sum, each) => sum + each.bytes, 0)
      const share = takes(place) ? place.weight / weights : 0
      const shares = loads.map((load) => ({
        ...load,
        bytes: bytesOf.get(load.cameraId) ?? 0,
        bytesPerMs: load.bytesPerMs * share,
        maxBytes: load.maxBytes === undefined ? undefined : load.maxBytes * share,
      }))
      const room = { users: new Map<number, number>(), archiveBytes: undefined }
      const diskBytes = disk && bytes + disk.freeBytes - disk.floorBytes
      return { place, bytes, disk, fullMs: forecastStorage(shares, { ...room, diskBytes }).diskFullMs }
    })
  }

  async #measureDisks() {
    const { places, log, minFreeBytes } = this.#options
    const disks = new Map<number, MeasuredDisk>()
    const states = new Map<number, StateOfPlace>()
    for (const place of places.all) {
      const found = await places.findState(place.id)
      states.set(place.id, found)
      if (found.state === 'silent') continue
      try {
        const disk = await (this.#options.measureDisk?.(place) ?? places.filesOf(place.id).measure())
        if (disk) disks.set(place.id, { ...disk, floorBytes: freeFloorBytes(disk, minFreeBytes) })
      } catch (error) {
        log.warn({ folder: place.folder, error: errorChain(error) }, 'the free disk space could not be determined')
      }
    }
    return { states, disks }
  }
}

function addDisks(a: MeasuredDisk, b: MeasuredDisk): MeasuredDisk {
  return {
    totalBytes: a.totalBytes + b.totalBytes,
    freeBytes: a.freeBytes + b.freeBytes,
    floorBytes: a.floorBytes + b.floorBytes,
  }
}

function sumByCamera(footage: readonly OpenFootage[]): Map<number, number> {
  const sums = new Map<number, number>()
  for (const { cameraId, bytes } of footage) sums.set(cameraId, (sums.get(cameraId) ?? 0) + bytes)
  return sums
}
