// A recent picture of every camera on disk, for lists and for cameras that are away: one at the first connection, and a new one
// every few minutes while the camera is online. One at a time, so that a thousand cameras make no burst; a camera that takes its time
// does not keep the others waiting.

import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import type { PictureLimits } from '../media/picture-size.ts'
import { Bell } from './bell.ts'
import type { Snapshot } from './live-streams.ts'

export type SnapshotKeeperOptions = {
  readonly takeSnapshot: (cameraId: number, limits: PictureLimits) => Promise<Snapshot>
  /** Holds `{cameraId}.jpg`; created when missing. */
  readonly dir: string
  readonly clock: Clock
  readonly log: Logger
  /** Told when the file is in place, with the time the camera saw it, Unix milliseconds. */
  readonly onSnapshot: (cameraId: number, createdAtMs: number) => void
  readonly limits?: PictureLimits
  /** Uniform in [0, 1). */
  readonly random?: () => number
}

type Camera = { dueMs: number; failures: number }

/** Less than the ten minutes promised, with room for a failure and a retry. */
const minIntervalMs = 7 * 60_000
const maxIntervalMs = 9 * 60_000
const retryMs = 15_000
const longWaitMs = 3_600_000

/** After this the next camera's picture is taken too, until so many are late. */
const patienceMs = 300
const maxTaking = 16

/** While the decoder runs anyway, pictures due this soon are taken too, so that it is not kept running by one picture at a time. */
const batchMs = 2 * 60_000
const warmMs = 3000

export class SnapshotKeeper {
  readonly #options: SnapshotKeeperOptions
  readonly #random: () => number
  readonly #online = new Map<number, Camera>()
  /** When each camera's last picture was taken, monotonic. */
  readonly #takenMs = new Map<number, number>()
  readonly #changed = new Bell()
  /** Cameras whose picture is being taken. */
  readonly #taking = new Map<number, Promise<void>>()
  #warmUntilMs = 0

  constructor(options: SnapshotKeeperOptions) {
    this.#options = options
    this.#random = options.random ?? Math.random
  }

  /**
   * The camera sends. `lastSnapshotMs`: when the picture it has from before the start was taken (Unix milliseconds), undefined or null
   * for none. A camera that comes and goes keeps the picture of this run of the server until it is old.
   */
  setOnline(cameraId: number, lastSnapshotMs?: number | null): void {
    if (this.#online.has(cameraId)) return
    const { clock } = this.#options
    const takenMs = this.#takenMs.get(cameraId)
    let ageMs = maxIntervalMs
    if (takenMs !== undefined) ageMs = clock.monotonicMs() - takenMs
    else if (typeof lastSnapshotMs === 'number') ageMs = Math.max(0, clock.nowMs() - lastSnapshotMs)
    this.#online.set(cameraId, { dueMs: clock.monotonicMs() + Math.max(0, this.#intervalMs() - ageMs), failures: 0 })
    this.#changed.ring()
  }

  /** Keeps its file. */
  setOffline(cameraId: number): void {
    this.#online.delete(cameraId)
  }

  /** The camera was removed: deletes its file. */
  async remove(cameraId: number): Promise<void> {
    this.setOffline(cameraId)
    // A picture being taken would come back after the file is gone.
    await this.#taking.get(cameraId)
    this.#takenMs.delete(cameraId)
    await rm(this.pathOf(cameraId), { force: true })
  }

  pathOf(cameraId: number): string {
    return join(this.#options.dir, `${cameraId}.jpg`)
  }

  /** Takes pictures as they fall due, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, dir } = this.#options
    await mkdir(dir, { recursive: true, mode: 0o700 })
    while (!signal.aborted) {
      const nowMs = clock.monotonicMs()
      const next = this.#findNext(nowMs < this.#warmUntilMs ? batchMs : 0)
      const waitMs = next ? next.dueMs - nowMs : longWaitMs
      if (next && waitMs <= 0) await this.#start(next.cameraId, next.camera)
      else await this.#changed.wait(clock, waitMs, signal).catch(() => {})
    }
    await Promise.all(this.#taking.values())
  }

  /** Resolves when the picture is taken, or takes longer than others should wait. */
  async #start(cameraId: number, camera: Camera): Promise<void> {
    const { clock } = this.#options
    const done = this.#take(cameraId, camera).finally(() => {
      this.#taking.delete(cameraId)
      this.#changed.ring()
    })
    this.#taking.set(cameraId, done)
    const taken = new AbortController()
    const late = clock.sleep(patienceMs, taken.signal).catch(() => {})
    await Promise.race([done, late])
    taken.abort()
    if (this.#taking.size >= maxTaking) await Promise.race(this.#taking.values())
    if (camera.failures === 0) this.#warmUntilMs = clock.monotonicMs() + warmMs
  }

  /** The first that is due when each is due earlier by `earlyMs`; one that failed keeps to its delay. */
  #findNext(earlyMs: number): { cameraId: number; camera: Camera; dueMs: number } | undefined {
    let next: { cameraId: number; camera: Camera; dueMs: number } | undefined
    for (const [cameraId, camera] of this.#online) {
      if (this.#taking.has(cameraId)) continue
      const dueMs = camera.failures === 0 ? camera.dueMs - earlyMs : camera.dueMs
      if (!next || dueMs < next.dueMs) next = { cameraId, camera, dueMs }
    }
    return next
  }

  async #take(cameraId: number, camera: Camera): Promise<void> {
    const { takeSnapshot, clock, log, onSnapshot, limits = {} } = this.#options
    try {
      const { jpeg, wallMs } = await takeSnapshot(cameraId, limits)
      await this.#write(cameraId, jpeg)
      if (camera.failures > 0) log.info({ cameraId }, 'snapshots of this camera are taken again')
      camera.failures = 0
      this.#takenMs.set(cameraId, clock.monotonicMs())
      camera.dueMs = clock.monotonicMs() + this.#intervalMs()
      onSnapshot(cameraId, wallMs)
    } catch (error) {
      if (camera.failures === 0)
        log.warn({ cameraId, error: errorChain(error) }, 'no snapshot of this camera, it is tried again')
      camera.failures++
      camera.dueMs = clock.monotonicMs() + Math.min(minIntervalMs, retryMs * 2 ** Math.min(camera.failures - 1, 10))
    }
  }

  /** Readers see the old picture or the new one, never half of one. */
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
