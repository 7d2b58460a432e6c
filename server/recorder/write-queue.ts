// The disk's side of a recorder: files to open, fragments to append, files to close, one after the other, by a disk that may be slow or
// fail. Whoever puts something in never waits; how much may wait is the recorder's to decide.

import type { Clock } from '../base/clock.ts'
import type { CutFragment } from './fragment-cutter.ts'
import type { RecorderEvents } from './recorder.ts'
import type { RecordingDisk } from './recording-disk.ts'
import { type SegmentPlan, SegmentWriter } from './segment-writer.ts'

export type WriteQueueOptions = {
  readonly cameraId: number
  readonly archiveDir: string
  readonly disk: RecordingDisk
  readonly clock: Clock
  /** Longest time that written bytes stay unsynced. */
  readonly syncIntervalMs: number
  readonly events: Pick<RecorderEvents, 'segmentOpened' | 'fragmentWritten' | 'segmentClosed' | 'segmentBroken'>
  /** A fragment is in its file. */
  readonly onWritten: () => void
  /** The disk refuses. What waited is dropped, so many pictures with it; the file ends with its last whole fragment. */
  readonly onFailed: (error: unknown, droppedFrames: number) => void
}

type Job =
  | { readonly kind: 'open'; readonly plan: SegmentPlan }
  | { readonly kind: 'fragment'; readonly cut: CutFragment }
  | { readonly kind: 'sync' }
  | { readonly kind: 'close' }

/** How often `tick` is called. */
export const tickMs = 1000

/** An operation that takes longer is worth telling. */
const slowMs = 5000

export class WriteQueue {
  readonly #options: WriteQueueOptions
  readonly #jobs: Job[] = []
  #working: Promise<void> | undefined
  #writer: SegmentWriter | undefined
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

  addFragment(cut: CutFragment): void {
    this.#queuedBytes += cut.bytes
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
        if (job.kind === 'fragment') this.#queuedBytes -= job.cut.bytes
      }
    }
    this.#working = undefined // at once with the empty queue: a job that comes later starts the work again
  }

  async #do(job: Job): Promise<void> {
    const { archiveDir, disk, events } = this.#options
    if (job.kind === 'open') {
      this.#writer = await SegmentWriter.open(disk, archiveDir, job.plan)
      events.segmentOpened(this.#writer.segment)
      return
    }
    const writer = this.#writer
    if (!writer) return // its file failed: the rest of it is lost
    if (job.kind === 'close') await this.#close(writer)
    else if (job.kind === 'sync') await this.#sync(writer)
    else await this.#append(writer, job.cut)
  }

  async #append(writer: SegmentWriter, cut: CutFragment): Promise<void> {
    const { cameraId, clock, events, onWritten, syncIntervalMs } = this.#options
    const fragment = await writer.append(cut)
    const nowMs = clock.monotonicMs()
    this.#unsyncedSinceMs ??= nowMs
    this.#fragments++
    this.#bytes += fragment.bytes
    events.fragmentWritten(cameraId, writer.segment.path, fragment)
    // Not when it failed: nobody knows whether a disk that gave up still reads.
    for (const memory of cut.memories) memory.release()
    onWritten()
    if (nowMs - this.#unsyncedSinceMs >= syncIntervalMs) await this.#sync(writer)
  }

  async #sync(writer: SegmentWriter): Promise<void> {
    await writer.sync()
    this.#unsyncedSinceMs = undefined
  }

  async #fail(error: unknown, failed: Job): Promise<void> {
    this.#errors++
    let droppedFrames = failed.kind === 'fragment' ? failed.cut.video.length : 0
    for (const job of this.#jobs.splice(0)) {
      if (job.kind !== 'fragment') continue
      this.#queuedBytes -= job.cut.bytes
      droppedFrames += job.cut.video.length
    }
    const writer = this.#writer
    this.#writer = undefined
    this.#options.onFailed(error, droppedFrames)
    if (!writer) return
    const isCut = await writer.cutRubbish().then(
      () => true,
      () => false, // whoever repairs the file does the same
    )
    await this.#close(writer, isCut).catch(() => {})
  }

  /** Throws the disk's error. `isWhole`: the file ends with its last fragment. */
  async #close(writer: SegmentWriter, isWhole = true): Promise<void> {
    const { cameraId, events } = this.#options
    const { path } = writer.segment
    let isSynced = false
    this.#writer = undefined
    this.#unsyncedSinceMs = undefined
    try {
      await writer.close()
      isSynced = true
    } finally {
      if (isSynced && isWhole) events.segmentClosed(cameraId, path, writer.checksum)
      else events.segmentBroken(cameraId, path)
    }
  }
}
