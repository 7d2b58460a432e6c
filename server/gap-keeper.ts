// Why cameras that should be recorded are not, from when on: what their recorders and connections report becomes marks, which the
// timeline shows. A break that is over in a moment leaves none.

import type { Clock } from './base/clock.ts'
import { errorChain } from './base/error.ts'
import type { Logger } from './base/log.ts'
import type { GapReason } from './hub/hub-item.ts'
import type { CameraReport } from './media-workers.ts'
import { type GapMark, isGapOpen } from './model/timeline.ts'
import type { GapMarks } from './store/gap-marks.ts'

export type GapKeeperOptions = {
  readonly marks: Pick<GapMarks, 'add' | 'list' | 'removeBefore'>
  readonly clock: Clock
  readonly log: Logger
  /** Is recording of the camera switched on? */
  isRecorded(cameraId: number): boolean
  /** First and newest footage, Unix milliseconds; undefined when there is none. */
  findFootage(cameraId: number): Promise<{ readonly startMs: number; readonly endMs: number } | undefined>
}

/** Marks wait so long: shorter breaks are hardly shown. */
const patienceMs = 3000
const lookIntervalMs = 1000
const cleaningIntervalMs = 3_600_000

type Kept = {
  /** The mark last written, as far as this process knows. */
  settled: GapMark | undefined
  /** Those after it, since `pendingSinceMs` (monotonic). */
  pending: GapMark[]
  pendingSinceMs: number
}

export class GapKeeper {
  readonly #options: GapKeeperOptions
  readonly #cameras = new Map<number, Kept>()
  #writing: Promise<void> = Promise.resolve()

  constructor(options: GapKeeperOptions) {
    this.#options = options
  }

  /** At a start of the server: why there is no footage of this camera before its recorder's first. */
  async findStartReason(cameraId: number): Promise<GapReason> {
    const { marks, clock, findFootage } = this.#options
    const nowMs = clock.nowMs()
    const [last] = await marks.list(cameraId, nowMs, nowMs)
    const footage = await findFootage(cameraId)
    const isOpen = last && footage && isGapOpen(footage.endMs, [last])
    return isOpen ? (last.reason as GapReason) : 'server_down'
  }

  /** Takes a worker's report. */
  take(report: CameraReport): void {
    if (report.type === 'recording_gap') this.#note(report.cameraId, report)
    else if (report.type === 'camera_status' && report.status.state === 'offline') {
      const { cameraId, status } = report
      const kept = this.#cameras.get(cameraId)
      // That a camera is away matters where it should be recorded and is not.
      const isGap = kept && newestOf(kept)?.reason !== undefined
      if (isGap && this.#options.isRecorded(cameraId)) {
        this.#note(cameraId, { atMs: this.#options.clock.nowMs(), reason: status.reason })
      }
    }
  }

  /** The camera is gone for good. */
  forget(cameraId: number): void {
    this.#cameras.delete(cameraId)
  }

  /** The last mark at or before `startMs`, and all up to `endMs`, in order. */
  async list(cameraId: number, startMs: number, endMs: number): Promise<GapMark[]> {
    // What is being written is neither pending nor in the store.
    await this.#writing
    const pending = this.#cameras.get(cameraId)?.pending.slice() ?? []
    const written = await this.#options.marks.list(cameraId, startMs, endMs)
    const newestMs = written.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY
    const all = [...written, ...pending.filter(({ atMs }) => atMs > newestMs && atMs <= endMs)]
    return all.slice(
      Math.max(
        0,
        all.findLastIndex(({ atMs }) => atMs <= startMs),
      ),
    )
  }

  /** Writes what has lasted, and removes what is older than any footage; ends when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    let cleanedMs = clock.monotonicMs()
    while (!signal.aborted) {
      await clock.sleep(lookIntervalMs, signal).catch(() => {})
      const nowMs = clock.monotonicMs()
      for (const [cameraId, kept] of this.#cameras) {
        if (kept.pending.length > 0 && nowMs - kept.pendingSinceMs >= patienceMs) this.#write(cameraId, kept)
      }
      await this.#writing
      if (nowMs - cleanedMs < cleaningIntervalMs) continue
      cleanedMs = nowMs
      await this.#clean(signal)
    }
  }

  /** Writes what is left. Call when the workers have ended. */
  async flush(): Promise<void> {
    for (const [cameraId, kept] of this.#cameras) this.#write(cameraId, kept)
    await this.#writing
  }

  #note(cameraId: number, { atMs, reason }: GapMark): void {
    const nowMs = this.#options.clock.monotonicMs()
    const kept = this.#cameras.get(cameraId) ?? { settled: undefined, pending: [], pendingSinceMs: nowMs }
    this.#cameras.set(cameraId, kept)
    const newest = newestOf(kept)
    if (newest && newest.reason === reason) return
    // Back to what it was in a moment: nothing has happened.
    const isUndone = kept.settled?.reason === reason && nowMs - kept.pendingSinceMs < patienceMs
    if (kept.settled && isUndone) {
      kept.pending = []
      return
    }
    if (kept.pending.length === 0) kept.pendingSinceMs = nowMs
    kept.pending.push({ atMs: Math.max(atMs, (newest?.atMs ?? 0) + 1), reason })
  }

  #write(cameraId: number, kept: Kept): void {
    const marks = kept.pending
    kept.pending = []
    kept.settled = marks.at(-1) ?? kept.settled
    this.#writing = this.#writing.then(async () => {
      for (const mark of marks) {
        await this.#options.marks.add(cameraId, mark).catch((error) => {
          this.#options.log.error({ cameraId, error: errorChain(error) }, 'why nothing is recorded was not written')
        })
      }
    })
  }

  async #clean(signal: AbortSignal): Promise<void> {
    const { marks, clock, findFootage, log } = this.#options
    for (const cameraId of this.#cameras.keys()) {
      if (signal.aborted) return
      try {
        const footage = await findFootage(cameraId)
        await marks.removeBefore(cameraId, footage?.startMs ?? clock.nowMs())
      } catch (error) {
        log.error({ cameraId, error: errorChain(error) }, 'marks of old gaps were not removed')
      }
    }
  }
}

function newestOf({ pending, settled }: Kept): GapMark | undefined {
  return pending.at(-1) ?? settled
}
