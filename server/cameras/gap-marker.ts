// Why one camera is not recorded although it should be, and from when on. Reports of its recorder and its connection
// become marks, which the timeline shows. A break that is over in a moment leaves none.

import type { GapReason } from '../../contract/gap-reasons.ts'
import { type Clock, readTogether } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import type { SerialQueue } from '../base/serial-queue.ts'
import { LostLease } from '../model/camera-lease.ts'
import {
  clockSet,
  compareMarks,
  findMarkEpoch,
  type GapMark,
  isGapOpen,
  listMarks,
  markLatenessMs,
} from '../model/gap-mark.ts'
import type { FootageBounds, LastSegment } from '../model/segment-views.ts'
import type { GapMarks } from '../store/footage/gap-marks.ts'

export type GapMarkerOptions = {
  readonly cameraId: number
  readonly marks: Pick<GapMarks, 'add' | 'findNewest' | 'list' | 'removeBefore'>
  /** Shared by all cameras, so that a server that loses all of them at once does not take the whole database. */
  readonly writes: SerialQueue
  readonly clock: Clock
  readonly log: Logger
  /** Is recording of the camera switched on? */
  isRecorded(): boolean
  /** First and newest footage, Unix milliseconds; undefined when there is none. */
  findFootage(): Promise<Pick<FootageBounds, 'startMs' | 'oldest'> | undefined>
  /** The segment recorded last; one that a crash left open may end later than this says. */
  findLast(): Promise<LastSegment | undefined>
  /** The clock epoch of the camera, whether it has footage or not. */
  findLastEpoch(): Promise<number>
}

/**
 * Marks wait so long: shorter breaks are hardly shown. The end of a written gap waits only for the next look, because a
 * process that is killed in between would leave the reason of that gap for the next one.
 */
const settleMs = 3000

/** A larger step of the system's clock means that it was set. */
const clockStepMs = 2000

/** Marks that may wait while the database does not answer. */
const maxPending = 1000

/** The epoch is asked for when the mark is made: later, footage of the next one may have begun. */
type NewMark = Omit<GapMark, 'epoch'> & { readonly epoch: Promise<number> }

export class GapMarker {
  readonly #options: GapMarkerOptions
  /** The mark last written, as far as this process knows. */
  #settled: NewMark | undefined
  /** Of the mark that the store has last taken. */
  #storedReason: string | undefined
  /** Those after it, since `#pendingSinceMs` (monotonic). */
  #pending: NewMark[] = []
  #pendingSinceMs = 0
  #writing: Promise<void> = Promise.resolve()
  #isWriting = false
  /** The last attempt to write has failed. */
  #isFailing = false
  /** The system's time minus the monotonic time at the last look. */
  #clockOffsetMs: number

  constructor(options: GapMarkerOptions) {
    this.#options = options
    this.#clockOffsetMs = this.#readClockOffsetMs()
  }

  /**
   * When the server starts: why there is no footage of this camera before its recorder's first. `otherwise`: if nothing
   * else is known.
   */
  async findStartReason(otherwise: GapReason = 'server_down'): Promise<GapReason> {
    const { cameraId, marks, findLast } = this.#options
    const mark = await marks.findNewest(cameraId)
    const last = await findLast()
    if (!mark || !last) return otherwise
    // A mark from before the last segment is about the gap before that segment.
    const isStale = (mark.epoch ?? 0) === last.epoch && mark.atMs <= last.startMs
    const isOpen = !isStale && isGapOpen(last, [mark])
    return isOpen ? (mark.reason as GapReason) : otherwise
  }

  /** From `atMs` on nothing is recorded, for this reason; undefined: it is again. */
  takeGap({ atMs, reason }: Omit<GapMark, 'epoch'>): void {
    const nowMs = this.#options.clock.monotonicMs()
    const newest = this.#newest
    if (newest && newest.reason === reason) return
    // Recorded again in a moment: nothing has happened.
    const isBrief = nowMs - this.#pendingSinceMs < settleMs && this.#pending.every((mark) => mark.reason !== clockSet)
    if (this.#settled && this.#settled.reason === undefined && reason === undefined && isBrief) {
      this.#pending = []
      return
    }
    if (this.#pending.length === 0) this.#pendingSinceMs = nowMs
    // A mark that is earlier by more than that was made after the clock was set back.
    const isLate = newest !== undefined && newest.atMs - atMs < markLatenessMs
    const orderedMs = isLate ? Math.max(atMs, newest.atMs + 1) : atMs
    // Why there was nothing in the latest gaps is lost then; that there was nothing, the footage tells.
    if (this.#pending.length >= maxPending) this.#pending.splice(-2)
    this.#pending.push({ atMs: orderedMs, reason, epoch: this.#findEpoch(atMs, newest) })
  }

  /** The camera cannot be reached. That matters where it should be recorded and is not. */
  takeOffline(reason: GapReason): void {
    const isGap = this.#newest?.reason !== undefined
    if (isGap && this.#options.isRecorded()) this.takeGap({ atMs: this.#options.clock.nowMs(), reason })
  }

  /** Of each epoch the last mark at or before `startMs`, and all up to `endMs`, in the order of recording. */
  async list(startMs: number, endMs: number): Promise<GapMark[]> {
    const { cameraId, marks } = this.#options
    // What is being written is neither pending nor in the store.
    await this.#writing
    const pending = await Promise.all(this.#pending.map(toMark))
    const written = await marks.list(cameraId, startMs, endMs)
    const newest = pending.length > 0 ? await marks.findNewest(cameraId) : undefined
    const isNew = (mark: GapMark) => newest === undefined || compareMarks(mark, newest) > 0
    // As in the store, a mark replaces those with later times.
    const isKept = (mark: GapMark, i: number) => pending[i + 1] === undefined || compareMarks(mark, pending[i + 1]!) < 0
    return listMarks([...written, ...pending.filter(isKept).filter(isNew)], startMs, endMs)
  }

  /** Writes what has lasted. To be called each second. */
  look(): void {
    this.#noteClock()
    if (this.#pending.length === 0 || this.#isWriting) return
    const isOver = this.#settled?.reason !== undefined && this.#newest?.reason === undefined
    const waitedMs = this.#options.clock.monotonicMs() - this.#pendingSinceMs
    if (isOver || waitedMs >= settleMs) this.#write()
  }

  /** Writes what is left. Call when the workers have ended. */
  async flush(): Promise<void> {
    this.#write()
    await this.#writing
  }

  /** Removes marks that are older than any footage. */
  async clean(): Promise<void> {
    const { cameraId, marks, findFootage, log } = this.#options
    try {
      const footage = await findFootage()
      const first = footage && (footage.oldest ?? { epoch: 0, startMs: footage.startMs })
      // Without footage the last one is enough.
      const newest = first ? undefined : await marks.findNewest(cameraId)
      const end = first ?? (newest && { epoch: newest.epoch ?? 0, startMs: newest.atMs })
      if (end) await marks.removeBefore(cameraId, end.startMs, end.epoch)
    } catch (error) {
      log.error({ cameraId, error: errorChain(error) }, 'old gap reasons could not be deleted')
    }
  }

  /**
   * If the clock is set back while nothing is recorded, no footage will tell when that was. The gap ends by the old time
   * then, and goes on by the new time.
   */
  #noteClock(): void {
    const before = this.#clockOffsetMs
    this.#clockOffsetMs = this.#readClockOffsetMs()
    const stepMs = this.#clockOffsetMs - before
    const newest = this.#newest
    if (Math.abs(stepMs) < clockStepMs || newest?.reason === undefined) return
    const { clock } = this.#options
    const nowMs = clock.nowMs()
    if (this.#pending.length === 0) this.#pendingSinceMs = clock.monotonicMs()
    if (stepMs < 0) this.#pending.push({ atMs: Math.round(nowMs - stepMs), reason: clockSet, epoch: newest.epoch })
    this.#pending.push({ atMs: nowMs, reason: newest.reason, epoch: this.#findEpoch(nowMs, newest) })
  }

  #readClockOffsetMs(): number {
    const { nowMs, monotonicMs } = readTogether(this.#options.clock)
    return nowMs - monotonicMs
  }

  get #newest(): NewMark | undefined {
    return this.#pending.at(-1) ?? this.#settled
  }

  async #findEpoch(atMs: number, before: NewMark | undefined): Promise<number> {
    const { cameraId, findLast, findLastEpoch, log } = this.#options
    try {
      return findMarkEpoch(await findLast(), await findLastEpoch(), atMs)
    } catch (error) {
      log.error({ cameraId, error: errorChain(error) }, 'the last recording of a camera could not be read')
      return before?.epoch ?? 0
    }
  }

  /**
   * Whether anything was recorded when a gap ended for a moment. Without it, the gap goes on; the disk, for example, has
   * refused another attempt. With it, the mark of before does not explain the gap after it.
   */
  async #hasFootageSince({ atMs, epoch = 0 }: GapMark): Promise<boolean> {
    const last = await this.#options.findLast()
    return last !== undefined && (last.epoch > epoch || (last.epoch === epoch && last.endMs > atMs))
  }

  #write(): void {
    const { cameraId, marks, writes, log } = this.#options
    const written = this.#pending
    if (written.length === 0) return
    this.#pending = []
    this.#settled = written.at(-1)
    this.#isWriting = true
    this.#writing = writes.run(async () => {
      let stored = 0
      try {
        while (stored < written.length) {
          const mark = await toMark(written[stored]!)
          const next = written[stored + 1]
          const isAgain = mark.reason === undefined && next !== undefined && next.reason === this.#storedReason
          if (isAgain && next.atMs - mark.atMs < settleMs && !(await this.#hasFootageSince(mark))) {
            stored += 2
            continue
          }
          await marks.add(cameraId, mark)
          this.#storedReason = mark.reason
          stored++
        }
        this.#isFailing = false
      } catch (error) {
        // Another server has the camera, and marks of its own.
        if (!(error instanceof LostLease)) {
          // Tried again at the next look. Without them, a gap would have the reason of another, or none.
          this.#pending.unshift(...written.slice(stored))
          if (!this.#isFailing)
            log.error({ cameraId, error: errorChain(error) }, 'the reason of a gap could not be stored')
          this.#isFailing = true
        }
      }
      this.#isWriting = false
    })
  }
}

async function toMark({ atMs, reason, epoch }: NewMark): Promise<GapMark> {
  return { atMs, reason, epoch: await epoch }
}
