// Why cameras that should be recorded are not, from when on: what their recorders and connections report becomes marks, which the
// timeline shows. A break that is over in a moment leaves none.

import type { GapReason } from '../contract/gap-reasons.ts'
import type { Clock } from './base/clock.ts'
import { errorChain } from './base/error.ts'
import type { Logger } from './base/log.ts'
import type { CameraReport } from './media-workers.ts'
import { compareMarks, findMarkPass, type GapMark, isGapOpen, listMarks, markLatenessMs } from './model/gap-mark.ts'
import type { FootageBounds, LastSegment } from './model/segment-views.ts'
import type { GapMarks } from './store/gap-marks.ts'

export type GapKeeperOptions = {
  readonly marks: Pick<GapMarks, 'add' | 'findNewest' | 'list' | 'removeBefore'>
  readonly clock: Clock
  readonly log: Logger
  /** Is recording of the camera switched on? */
  isRecorded(cameraId: number): boolean
  /** First and newest footage, Unix milliseconds; undefined when there is none. */
  findFootage(cameraId: number): Promise<Pick<FootageBounds, 'startMs' | 'oldest'> | undefined>
  /** The segment recorded last; one that a crash left open may end later than this says. */
  findLast(cameraId: number): Promise<LastSegment | undefined>
}

/**
 * Marks wait so long: shorter breaks are hardly shown. The end of a written gap waits only for the next look, because a process that is
 * killed in between would leave the reason of that gap for the next one.
 */
const patienceMs = 3000
const lookIntervalMs = 1000
const cleaningIntervalMs = 3_600_000

/** The pass is asked for when the mark is made: later, footage of the next one may have begun. */
type NewMark = Omit<GapMark, 'pass'> & { readonly pass: Promise<number> }

type Kept = {
  /** The mark last written, as far as this process knows. */
  settled: NewMark | undefined
  /** Those after it, since `pendingSinceMs` (monotonic). */
  pending: NewMark[]
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
    const { marks, findLast } = this.#options
    const mark = await marks.findNewest(cameraId)
    const last = await findLast(cameraId)
    if (!mark || !last) return 'server_down'
    // A mark from before the last segment is about the gap before that segment.
    const isStale = (mark.pass ?? 0) === last.pass && mark.atMs <= last.startMs
    const isOpen = !isStale && isGapOpen(last, [mark])
    return isOpen ? (mark.reason as GapReason) : 'server_down'
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

  /** Of each pass the last mark at or before `startMs`, and all up to `endMs`, in the order of recording. */
  async list(cameraId: number, startMs: number, endMs: number): Promise<GapMark[]> {
    // What is being written is neither pending nor in the store.
    await this.#writing
    const pending = await Promise.all((this.#cameras.get(cameraId)?.pending ?? []).map(toMark))
    const written = await this.#options.marks.list(cameraId, startMs, endMs)
    const newest = pending.length > 0 ? await this.#options.marks.findNewest(cameraId) : undefined
    const isNew = (mark: GapMark) => newest === undefined || compareMarks(mark, newest) > 0
    return listMarks([...written, ...pending.filter(isNew)], startMs, endMs)
  }

  /** Writes what has lasted, and removes what is older than any footage; ends when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    let cleanedMs = clock.monotonicMs()
    while (!signal.aborted) {
      await clock.sleep(lookIntervalMs, signal).catch(() => {})
      const nowMs = clock.monotonicMs()
      for (const [cameraId, kept] of this.#cameras) {
        if (kept.pending.length === 0) continue
        const isOver = kept.settled?.reason !== undefined && newestOf(kept)?.reason === undefined
        if (isOver || nowMs - kept.pendingSinceMs >= patienceMs) this.#write(cameraId, kept)
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

  #note(cameraId: number, { atMs, reason }: Omit<GapMark, 'pass'>): void {
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
    // A mark that is earlier by more than that was made after the clock was set back.
    const isLate = newest !== undefined && newest.atMs - atMs < markLatenessMs
    const orderedMs = isLate ? Math.max(atMs, newest.atMs + 1) : atMs
    kept.pending.push({ atMs: orderedMs, reason, pass: this.#findPass(cameraId, atMs, newest) })
  }

  async #findPass(cameraId: number, atMs: number, before: NewMark | undefined): Promise<number> {
    try {
      return findMarkPass(await this.#options.findLast(cameraId), atMs)
    } catch (error) {
      this.#options.log.error(
        { cameraId, error: errorChain(error) },
        'the last recording of a camera could not be looked up',
      )
      return before?.pass ?? 0
    }
  }

  #write(cameraId: number, kept: Kept): void {
    const marks = kept.pending
    kept.pending = []
    kept.settled = marks.at(-1) ?? kept.settled
    this.#writing = this.#writing.then(async () => {
      for (const mark of marks) {
        await this.#options.marks.add(cameraId, await toMark(mark)).catch((error) => {
          this.#options.log.error({ cameraId, error: errorChain(error) }, 'why nothing is recorded was not written')
        })
      }
    })
  }

  async #clean(signal: AbortSignal): Promise<void> {
    const { marks, findFootage, log } = this.#options
    for (const cameraId of this.#cameras.keys()) {
      if (signal.aborted) return
      try {
        const footage = await findFootage(cameraId)
        const first = footage && (footage.oldest ?? { pass: 0, startMs: footage.startMs })
        // Without footage the last one is enough.
        const newest = first ? undefined : await marks.findNewest(cameraId)
        const end = first ?? (newest && { pass: newest.pass ?? 0, startMs: newest.atMs })
        if (end) await marks.removeBefore(cameraId, end.startMs, end.pass)
      } catch (error) {
        log.error({ cameraId, error: errorChain(error) }, 'marks of old gaps were not removed')
      }
    }
  }
}

function newestOf({ pending, settled }: Kept): NewMark | undefined {
  return pending.at(-1) ?? settled
}

async function toMark({ atMs, reason, pass }: NewMark): Promise<GapMark> {
  return { atMs, reason, pass: await pass }
}
