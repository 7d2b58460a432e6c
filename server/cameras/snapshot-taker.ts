// Takes the snapshot of every camera that lists show, also while the camera is offline: one after it first connects,
// then every few minutes while it is online. Snapshots are taken one at a time, so that a thousand cameras cause no
// burst. A slow camera does not delay the others.

import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { settlesWithin } from '../base/deadline.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { Notifier } from '../base/notifier.ts'
import type { Snapshot } from '../live/live-camera.ts'
import type { ImageLimits } from '../media/image-size.ts'

export type SnapshotTakerOptions = {
  readonly takeSnapshot: (cameraId: number, limits: ImageLimits) => Promise<Snapshot>
  /** Contains `{cameraId}.jpg`; created if missing. */
  readonly dir: string
  readonly clock: Clock
  readonly log: Logger
  /** Called when the file is in place, with its capture time, Unix milliseconds. */
  readonly onSnapshot: (cameraId: number, createdAtMs: number) => void
  readonly limits?: ImageLimits
  /** Uniformly distributed in [0, 1). */
  readonly random?: () => number
}

/** When the snapshot of one camera is due; see `SnapshotTaker.schedule`. */
export type SnapshotSchedule = {
  readonly cameraId: number
  /** Monotonic; undefined while the camera is offline. */
  dueMs: number | undefined
  failures: number
  /** When the last snapshot was taken, monotonic; negative infinity if its file is gone. */
  takenMs: number | undefined
  taking: Promise<void> | undefined
}

/** Shorter than the promised ten minutes, to leave room for a failure and a retry. */
const minIntervalMs = 7 * 60_000
const maxIntervalMs = 9 * 60_000
const retryMs = 15_000
const longWaitMs = 3_600_000

/** After this time the next camera is started too, up to a limit of slow cameras. */
const maxWaitMs = 300
const maxTaking = 16

/**
 * While the decoder is running, snapshots that are due this soon are taken too, so that it does not run for one
 * snapshot at a time.
 */
const batchMs = 2 * 60_000
const warmMs = 3000

export class SnapshotTaker {
  readonly #options: SnapshotTakerOptions
  readonly #random: () => number
  /** Schedules of the cameras that are online. */
  readonly #online = new Set<SnapshotSchedule>()
  readonly #changed = new Notifier()
  readonly #taking = new Set<SnapshotSchedule>()
  #warmUntilMs = 0

  constructor(options: SnapshotTakerOptions) {
    this.#options = options
    this.#random = options.random ?? Math.random
  }

  /** Creates the schedule of a camera that is offline. */
  schedule(cameraId: number): SnapshotSchedule {
    return { cameraId, dueMs: undefined, failures: 0, takenMs: undefined, taking: undefined }
  }

  /**
   * The camera is online. `lastSnapshotMs`: capture time of its snapshot from before the start (Unix milliseconds);
   * undefined or null if there is none. A camera that reconnects keeps its snapshot until it is old.
   */
  setOnline(schedule: SnapshotSchedule, lastSnapshotMs?: number | null): void {
    if (schedule.dueMs !== undefined) return
    const { clock } = this.#options
    let ageMs = maxIntervalMs
    if (schedule.takenMs !== undefined) ageMs = clock.monotonicMs() - schedule.takenMs
    else if (typeof lastSnapshotMs === 'number') ageMs = Math.max(0, clock.nowMs() - lastSnapshotMs)
    schedule.dueMs = clock.monotonicMs() + Math.max(0, this.#intervalMs() - ageMs)
    schedule.failures = 0
    this.#online.add(schedule)
    this.#changed.notify()
  }

  /** The file stays. */
  setOffline(schedule: SnapshotSchedule): void {
    schedule.dueMs = undefined
    this.#online.delete(schedule)
  }

  /** Deletes the file. If the camera is online again, the next one is due at once. */
  async remove(schedule: SnapshotSchedule): Promise<void> {
    this.setOffline(schedule)
    // A snapshot in progress would be written after the file is deleted.
    await schedule.taking
    schedule.takenMs = Number.NEGATIVE_INFINITY
    await rm(this.pathOf(schedule.cameraId), { force: true })
  }

  pathOf(cameraId: number): string {
    return join(this.#options.dir, `${cameraId}.jpg`)
  }

  /** Takes snapshots as they fall due, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, dir } = this.#options
    await mkdir(dir, { recursive: true, mode: 0o700 })
    while (!signal.aborted) {
      const nowMs = clock.monotonicMs()
      const next = this.#findNext(nowMs < this.#warmUntilMs ? batchMs : 0)
      const waitMs = next ? next.dueMs - nowMs : longWaitMs
      if (next && waitMs <= 0) await this.#start(next.schedule)
      else await this.#changed.wait(clock, waitMs, signal)
    }
    await Promise.all([...this.#taking].map(({ taking }) => taking))
  }

  /** Resolves when the snapshot has been taken, or takes longer than other cameras should wait. */
  async #start(schedule: SnapshotSchedule): Promise<void> {
    const { clock } = this.#options
    const done = this.#take(schedule).finally(() => {
      schedule.taking = undefined
      this.#taking.delete(schedule)
      this.#changed.notify()
    })
    schedule.taking = done
    this.#taking.add(schedule)
    await settlesWithin(done, maxWaitMs, clock)
    if (this.#taking.size >= maxTaking) await Promise.race([...this.#taking].map(({ taking }) => taking))
    if (schedule.failures === 0) this.#warmUntilMs = clock.monotonicMs() + warmMs
  }

  /** The first schedule that is due within `earlyMs`; failed ones keep their delay. */
  #findNext(earlyMs: number): { schedule: SnapshotSchedule; dueMs: number } | undefined {
    let next: { schedule: SnapshotSchedule; dueMs: number } | undefined
    for (const schedule of this.#online) {
      if (schedule.taking || schedule.dueMs === undefined) continue
      const dueMs = schedule.failures === 0 ? schedule.dueMs - earlyMs : schedule.dueMs
      if (!next || dueMs < next.dueMs) next = { schedule, dueMs }
    }
    return next
  }

  async #take(schedule: SnapshotSchedule): Promise<void> {
    const { takeSnapshot, clock, log, onSnapshot, limits = {} } = this.#options
    const { cameraId } = schedule
    let waitMs = this.#intervalMs()
    try {
      const { jpeg, wallMs } = await takeSnapshot(cameraId, limits)
      await this.#write(cameraId, jpeg)
      if (schedule.failures > 0) log.info({ cameraId }, 'snapshots of this camera work again')
      schedule.failures = 0
      schedule.takenMs = clock.monotonicMs()
      onSnapshot(cameraId, wallMs)
    } catch (error) {
      if (schedule.failures === 0)
        log.warn({ cameraId, error: errorChain(error) }, 'a snapshot of this camera failed and will be retried')
      schedule.failures++
      waitMs = Math.min(minIntervalMs, retryMs * 2 ** Math.min(schedule.failures - 1, 10))
    }
    if (schedule.dueMs !== undefined) schedule.dueMs = clock.monotonicMs() + waitMs
  }

  /** Replaces the file atomically, so that readers never see a partial image. */
  async #write(cameraId: number, jpeg: Uint8Array): Promise<void> {
    const path = this.pathOf(cameraId)
    const temporary = `${path}.tmp`
    const file = await open(temporary, 'w')
    try {
      await file.writeFile(jpeg)
      await file.datasync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  }

  #intervalMs(): number {
    return minIntervalMs + (maxIntervalMs - minIntervalMs) * this.#random()
  }
}
