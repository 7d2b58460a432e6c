// The disk side of a recorder: opens files, appends fragments and closes files, one operation after the other, on a
// disk that may be slow or fail. Adding to the queue never waits; the recorder decides how much may be queued.
//
// After a failed write, the queue is dropped: the disk is full or gone. After a failed sync, the file ends where the
// disk has confirmed it, and the queue is written to a new file.

import type { Clock } from '../base/clock.ts'
import { frameCostBytes } from '../media/frame.ts'
import { createDiskError } from './disk-error.ts'
import { dropEarlyAudio } from './drop-early-audio.ts'
import type { RecorderEvents } from './recorder-events.ts'
import type { RecordingTarget, RecordingTargets } from './recording-targets.ts'
import { type PlannedFragment, type SegmentPlan, SegmentWriter } from './segment-writer.ts'

export type WriteQueueOptions = {
  readonly cameraId: number
  readonly targets: RecordingTargets
  readonly clock: Clock
  /** The longest time that written bytes stay unsynced. */
  readonly syncIntervalMs: number
  readonly events: Pick<RecorderEvents, 'segmentOpened' | 'fragmentWritten' | 'segmentClosed' | 'segmentBroken'>
  /** The disk has completed or refused a queued operation. */
  readonly onTaken: () => void
  /** A fragment is in its file. */
  readonly onWritten: () => void
  /** The disk has confirmed everything that was written. */
  readonly onConfirmed: () => void
  /**
   * The disk refused a write. The queue was dropped, with this number of frames; the file ends with its last complete
   * fragment. `isElsewhere`: a new file can be created at once, in another place.
   */
  readonly onFailed: (error: unknown, droppedFrames: number, isElsewhere: boolean) => void
  /** A sync failed: this number of frames is lost. The queue is written to a new file. */
  readonly onUnconfirmed: (error: unknown, lostFrames: number) => void
}

type Job =
  | { readonly kind: 'open'; readonly plan: SegmentPlan }
  | { readonly kind: 'fragment'; readonly cut: PlannedFragment }
  | { readonly kind: 'sync' }
  | { readonly kind: 'close' }

/** Memory used by a fragment. */
const costOf = ({ bytes, video, audio }: PlannedFragment): number =>
  bytes + (video.length + audio.length) * frameCostBytes

/** How often `tick` is called. */
export const tickMs = 1000

/** Operations that take longer are logged. */
const slowMs = 5000

export class WriteQueue {
  readonly #options: WriteQueueOptions
  readonly #jobs: Job[] = []
  #working: Promise<void> | undefined
  #writer: SegmentWriter | undefined
  /** Where the last file was created. */
  #target: RecordingTarget | undefined
  /**
   * The file that is being written, or one that was given up after a failed sync while its fragments are still queued.
   */
  #plan: SegmentPlan | undefined
  /** True if the footage before the next file was lost in a failed sync. */
  #isAfterLoss = false
  /** A file of which nothing remained: the gap before it goes on to the next file. */
  #lost: Pick<SegmentPlan, 'startMs' | 'gapReason'> | undefined
  /** The end of the last fragment that was written, and of the last one in a file that remained. Unix milliseconds. */
  #writtenMs: number | undefined
  #keptMs = Number.NEGATIVE_INFINITY
  /** When the first byte was written that may not be on the disk yet. */
  #unsyncedSinceMs: number | undefined
  /** When the operation that is in progress was started. */
  #waitingSinceMs: number | undefined
  #queuedBytes = 0
  #fragments = 0
  #bytes = 0
  #errors = 0

  constructor(options: WriteQueueOptions) {
    this.#options = options
  }

  /** Bytes of queued frames. */
  get queuedBytes(): number {
    return this.#queuedBytes
  }

  openFile(plan: SegmentPlan): void {
    this.#enqueue({ kind: 'open', plan })
  }

  addFragment(cut: PlannedFragment): void {
    this.#queuedBytes += costOf(cut)
    this.#enqueue({ kind: 'fragment', cut })
  }

  closeFile(): void {
    this.#enqueue({ kind: 'close' })
  }

  /** Call every `tickMs`: syncs what no fragment follows. Returns true while the disk is too slow. */
  tick(): boolean {
    const { clock, syncIntervalMs } = this.#options
    const nowMs = clock.monotonicMs()
    if (this.#waitingSinceMs !== undefined) return nowMs - this.#waitingSinceMs > slowMs
    if (this.#unsyncedSinceMs !== undefined && nowMs - this.#unsyncedSinceMs > syncIntervalMs - tickMs) {
      this.#enqueue({ kind: 'sync' })
    }
    return false
  }

  /** How long the current operation has been in progress; 0 if the queue is empty. */
  get waitMs(): number {
    return this.#waitingSinceMs === undefined ? 0 : this.#options.clock.monotonicMs() - this.#waitingSinceMs
  }

  /** Resolves when the queue is empty. */
  async flush(): Promise<void> {
    while (this.#working) await this.#working
  }

  stats() {
    return { fragments: this.#fragments, bytes: this.#bytes, diskErrors: this.#errors }
  }

  #enqueue(job: Job): void {
    this.#jobs.push(job)
    this.#working ??= this.#work()
  }

  async #work(): Promise<void> {
    for (let job = this.#jobs.shift(); job; job = this.#jobs.shift()) {
      this.#waitingSinceMs = this.#options.clock.monotonicMs()
      try {
        await this.#do(job)
      } catch (error) {
        await this.#fail(error, job)
      } finally {
        this.#waitingSinceMs = undefined
        if (job.kind === 'fragment') this.#queuedBytes -= costOf(job.cut)
        this.#options.onTaken()
      }
    }
    this.#working = undefined // Set together with the empty queue, so that a later job starts the work again.
  }

  async #do(job: Job): Promise<void> {
    if (job.kind === 'open') return this.#open(job.plan)
    if (job.kind === 'fragment') return this.#append(job.cut)
    // Without a writer, the file has failed and is closed.
    if (job.kind === 'close') await this.#writer?.writeIndex()
    if (this.#writer) await this.#sync(this.#writer)
    if (job.kind === 'close') await this.#close()
  }

  async #open(plan: SegmentPlan): Promise<void> {
    const { events } = this.#options
    const gapReason = this.#reasonBefore(plan)
    this.#plan = undefined // If the file cannot be created, the rest of it is lost.
    try {
      this.#writer = await this.#openWriter({ ...plan, gapReason })
    } catch (error) {
      this.#lost ??= { startMs: plan.startMs, gapReason }
      throw error
    }
    this.#plan = { ...plan, gapReason }
    this.#isAfterLoss = false
    this.#lost = undefined
    events.segmentOpened(this.#writer.segment)
  }

  /** Of a gap that began for one reason and went on because of the disk, that of the longer part. */
  #reasonBefore({ startMs, gapReason }: SegmentPlan): string | undefined {
    const ofDisk = this.#isAfterLoss ? 'disk_failed' : gapReason
    const lost = this.#lost
    if (lost?.gapReason === undefined) return ofDisk
    return lost.startMs - this.#keptMs > startMs - lost.startMs ? lost.gapReason : ofDisk
  }

  /** In the first place that takes the file. Throws the first error when none does. */
  async #openWriter(plan: SegmentPlan): Promise<SegmentWriter> {
    const { targets } = this.#options
    let failure: { readonly error: unknown } | undefined
    for (const target of targets.choose()) {
      try {
        const writer = await SegmentWriter.open(target, plan)
        targets.report(target)
        this.#target = target
        return writer
      } catch (error) {
        targets.report(target, error)
        failure ??= { error }
      }
    }
    throw failure ? failure.error : createDiskError('EAWAY', 'there is no place for recordings')
  }

  async #append(held: PlannedFragment): Promise<void> {
    const { cameraId, clock, events, onUnconfirmed, onWritten, syncIntervalMs } = this.#options
    let cut = held
    if (!this.#writer) {
      if (!this.#plan) return // The file failed, so the rest of it is lost.
      // The file was given up, but not its queued fragments: a new file begins where a decoder can start.
      if (!cut.isKey) return onUnconfirmed(undefined, cut.video.length)
      // A hole before it is part of the gap.
      cut = { ...dropEarlyAudio(cut, this.#plan.format.audio?.sampleRate), hole: undefined }
      await this.#open({ ...this.#plan, runStart90k: cut.start90k - cut.skipped90k, startMs: cut.startMs })
    }
    const writer = this.#writer!
    const fragment = await writer.append(cut)
    const nowMs = clock.monotonicMs()
    this.#unsyncedSinceMs ??= nowMs
    this.#fragments++
    this.#bytes += fragment.bytes
    this.#writtenMs = cut.startMs + cut.durationMs
    events.fragmentWritten(cameraId, writer.segment.path, fragment)
    // Not after a failure, because the disk may not be readable anymore.
    for (const memory of held.memories) memory.release()
    onWritten()
    if (nowMs - this.#unsyncedSinceMs >= syncIntervalMs) await this.#sync(writer)
  }

  async #sync(writer: SegmentWriter): Promise<void> {
    await writer.sync()
    this.#unsyncedSinceMs = undefined
    this.#options.onConfirmed()
  }

  async #close(): Promise<void> {
    const writer = this.#writer
    this.#writer = undefined
    this.#plan = undefined
    if (!writer) return
    await writer.close()
    this.#keptMs = this.#writtenMs ?? this.#keptMs
    const { confirmed, indexBytes, segment } = writer
    this.#options.events.segmentClosed(this.#options.cameraId, segment.path, confirmed.checksum, indexBytes)
  }

  async #fail(error: unknown, failed: Job): Promise<void> {
    this.#errors++
    const isElsewhere = this.#target !== undefined && this.#options.targets.report(this.#target, error)
    const writer = this.#writer
    this.#writer = undefined
    this.#unsyncedSinceMs = undefined
    if (writer?.isUnsyncable) {
      // The sync before closing was the last remaining operation.
      if (failed.kind === 'close') this.#plan = undefined
      return this.#giveUp(writer, error)
    }
    this.#plan = undefined
    let droppedFrames = failed.kind === 'fragment' ? failed.cut.video.length : 0
    for (const job of this.#jobs.splice(0)) {
      if (job.kind !== 'fragment') continue
      this.#queuedBytes -= costOf(job.cut)
      droppedFrames += job.cut.video.length
    }
    this.#options.onFailed(error, droppedFrames, isElsewhere)
    if (writer) await this.#closeAfterFailure(writer)
  }

  /** Truncates the file to its last complete fragment. */
  async #closeAfterFailure(writer: SegmentWriter): Promise<void> {
    const { cameraId, events } = this.#options
    const isCut = await succeeds(writer.cutPartial())
    const isSynced = await writer.sync().then(
      () => true,
      async (error) => {
        this.#errors++
        await this.#giveUp(writer, error)
        return false
      },
    )
    if (!isSynced) return
    await writer.close()
    const { path } = writer.segment
    if (isCut) events.segmentClosed(cameraId, path, writer.confirmed.checksum, 0)
    else events.segmentBroken(cameraId, path, writer.confirmed)
  }

  /** After a failed sync: what was written since the previous sync does not count. */
  async #giveUp(writer: SegmentWriter, error: unknown): Promise<void> {
    const { cameraId, events, onUnconfirmed } = this.#options
    this.#isAfterLoss = true
    if (writer.confirmed.bytes > 0) this.#keptMs = this.#writtenMs ?? this.#keptMs
    else this.#lost ??= writer.segment
    onUnconfirmed(error, writer.unconfirmedFrames)
    await succeeds(writer.cutUnconfirmed())
    await writer.close()
    events.segmentBroken(cameraId, writer.segment.path, writer.confirmed)
  }
}

function succeeds(operation: Promise<void>): Promise<boolean> {
  return operation.then(
    () => true,
    () => false,
  )
}
