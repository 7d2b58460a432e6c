// The disk's side of a recorder: files to open, fragments to append, files to close, one after the other, by a disk that may be slow or
// fail. Whoever puts something in never waits; how much may wait is the recorder's to decide.
//
// After a failed write, what waited is dropped: the disk is full or gone. After a failed sync, the file ends where the disk has confirmed
// it, and what waited goes into a new file.

import type { Clock } from '../base/clock.ts'
import { frameCostBytes } from '../media/frame.ts'
import { dropEarlyAudio } from './drop-early-audio.ts'
import type { RecorderEvents } from './recorder.ts'
import type { RecordingDisk } from './recording-disk.ts'
import { type PlannedFragment, type SegmentPlan, SegmentWriter } from './segment-writer.ts'

export type WriteQueueOptions = {
  readonly cameraId: number
  readonly archiveDir: string
  readonly disk: RecordingDisk
  readonly clock: Clock
  /** Longest time that written bytes stay unsynced. */
  readonly syncIntervalMs: number
  readonly events: Pick<RecorderEvents, 'segmentOpened' | 'fragmentWritten' | 'segmentClosed' | 'segmentBroken'>
  /** The disk has taken, or refused, something that waited. */
  readonly onTaken: () => void
  /** A fragment is in its file. */
  readonly onWritten: () => void
  /** The disk has confirmed all that was written. */
  readonly onConfirmed: () => void
  /** The disk refuses. What waited is dropped, so many pictures with it; the file ends with its last whole fragment. */
  readonly onFailed: (error: unknown, droppedFrames: number) => void
  /** The disk did not confirm what was written: so many pictures are lost. What waits goes into a new file. */
  readonly onUnconfirmed: (error: unknown, lostFrames: number) => void
}

type Job =
  | { readonly kind: 'open'; readonly plan: SegmentPlan }
  | { readonly kind: 'fragment'; readonly cut: PlannedFragment }
  | { readonly kind: 'sync' }
  | { readonly kind: 'close' }

/** What a fragment takes in memory. */
const costOf = ({ bytes, video, audio }: PlannedFragment): number =>
  bytes + (video.length + audio.length) * frameCostBytes

/** How often `tick` is called. */
export const tickMs = 1000

/** An operation that takes longer is worth telling. */
const slowMs = 5000

export class WriteQueue {
  readonly #options: WriteQueueOptions
  readonly #jobs: Job[] = []
  #working: Promise<void> | undefined
  #writer: SegmentWriter | undefined
  /** Of the file being written, or of one that was given up after a failed sync while fragments of it may come. */
  #plan: SegmentPlan | undefined
  /** True when the footage before the next file was lost with a failed sync. */
  #isAfterLoss = false
  /** When the first byte was written that may not be on the disk yet. */
  #unsyncedSinceMs: number | undefined
  /** When the disk was asked for what it has not done yet. */
  #waitingSinceMs: number | undefined
  #queuedBytes = 0
  #fragments = 0
  #bytes = 0
  #errors = 0

  constructor(options: WriteQueueOptions) {
    this.#options = options
  }

  /** Bytes of frames that wait for the disk. */
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

  /** To be called each `tickMs`: syncs what no fragment follows. True while the disk takes too long. */
  tick(): boolean {
    const { clock, syncIntervalMs } = this.#options
    const nowMs = clock.monotonicMs()
    if (this.#waitingSinceMs !== undefined) return nowMs - this.#waitingSinceMs > slowMs
    if (this.#unsyncedSinceMs !== undefined && nowMs - this.#unsyncedSinceMs > syncIntervalMs - tickMs) {
      this.#enqueue({ kind: 'sync' })
    }
    return false
  }

  /** For how long the disk has not done what it was asked for; 0 when nothing waits. */
  get waitMs(): number {
    return this.#waitingSinceMs === undefined ? 0 : this.#options.clock.monotonicMs() - this.#waitingSinceMs
  }

  /** Resolves when nothing waits. */
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
    this.#working = undefined // at once with the empty queue: a job that comes later starts the work again
  }

  async #do(job: Job): Promise<void> {
    if (job.kind === 'open') return this.#open(job.plan)
    if (job.kind === 'fragment') return this.#append(job.cut)
    // Without a writer the file has failed, and is closed.
    if (this.#writer) await this.#sync(this.#writer)
    if (job.kind === 'close') await this.#close()
  }

  async #open(plan: SegmentPlan): Promise<void> {
    const { archiveDir, disk, events } = this.#options
    const gapReason = this.#isAfterLoss ? 'disk_failed' : plan.gapReason
    this.#plan = undefined // should the file not be made, the rest of it is lost
    this.#writer = await SegmentWriter.open(disk, archiveDir, { ...plan, gapReason })
    this.#plan = plan
    this.#isAfterLoss = false
    events.segmentOpened(this.#writer.segment)
  }

  async #append(held: PlannedFragment): Promise<void> {
    const { cameraId, clock, events, onUnconfirmed, onWritten, syncIntervalMs } = this.#options
    let cut = held
    if (!this.#writer) {
      if (!this.#plan) return // its file failed: the rest of it is lost
      // The file was given up, but not what was held of it: a new one begins where a decoder can.
      if (!cut.isKey) return onUnconfirmed(undefined, cut.video.length)
      // A hole before it belongs to the gap.
      cut = { ...dropEarlyAudio(cut, this.#plan.format.audio?.sampleRate), hole: undefined }
      await this.#open({ ...this.#plan, runStart90k: cut.start90k - cut.skipped90k, startMs: cut.startMs })
    }
    const writer = this.#writer!
    const fragment = await writer.append(cut)
    const nowMs = clock.monotonicMs()
    this.#unsyncedSinceMs ??= nowMs
    this.#fragments++
    this.#bytes += fragment.bytes
    events.fragmentWritten(cameraId, writer.segment.path, fragment)
    // Not when it failed: nobody knows whether a disk that gave up still reads.
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
    this.#options.events.segmentClosed(this.#options.cameraId, writer.segment.path, writer.confirmed.checksum)
  }

  async #fail(error: unknown, failed: Job): Promise<void> {
    this.#errors++
    const writer = this.#writer
    this.#writer = undefined
    this.#unsyncedSinceMs = undefined
    if (writer?.isUnsyncable) {
      // The sync before the closing was the last that was left to do.
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
    this.#options.onFailed(error, droppedFrames)
    if (writer) await this.#closeAfterFailure(writer)
  }

  /** Ends the file with its last whole fragment. */
  async #closeAfterFailure(writer: SegmentWriter): Promise<void> {
    const { cameraId, events } = this.#options
    const isCut = await succeeds(writer.cutRubbish())
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
    if (isCut) events.segmentClosed(cameraId, path, writer.confirmed.checksum)
    else events.segmentBroken(cameraId, path, writer.confirmed)
  }

  /** After a failed sync: nothing that was written since the one before it counts. */
  async #giveUp(writer: SegmentWriter, error: unknown): Promise<void> {
    const { cameraId, events, onUnconfirmed } = this.#options
    this.#isAfterLoss = true
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
