// Records one camera: a reader of its hub that writes minute files. The frames of a fragment wait in memory until it is
// whole, fragments wait in a queue bounded in bytes while the disk is slow, and nothing ever makes the hub wait. Order
// of writing, failures and their reasons: docs/design/recording.md.

import type { GapReason } from '../../contract/gap-reasons.ts'
import type { RecordingStatus } from '../../contract/recording-status.ts'
import { ByteBudget } from '../base/byte-budget.ts'
import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { Backoff } from '../base/retry.ts'
import type { HubSink } from '../hub/camera-hub.ts'
import type { HubItem, RunStart } from '../hub/hub-item.ts'
import { type Frame, frameCostBytes } from '../media/frame.ts'
import { FrameRhythm, type Hole } from '../model/frame-rhythm.ts'
import { type Fragment, holeSeam90k } from '../model/segment.ts'
import type { ConfirmedPart, OpenSegment } from '../model/segment-views.ts'
import { describeDiskError, isDiskFull, slowDisk } from './disk-error.ts'
import { type CutFragment, FragmentCutter } from './fragment-cutter.ts'
import { OpenHoles } from './open-holes.ts'
import { OverloadThrottle } from './overload-throttle.ts'
import { PendingBytes } from './pending-bytes.ts'
import { createNodeDisk, type RecordingDisk } from './recording-disk.ts'
import { nextRotationMs } from './rotation.ts'
import { skipStep90k } from './segment-writer.ts'
import { WriteQueue } from './write-queue.ts'

/** What the index must know. Plain data: it crosses to the main thread. Of one camera always in this order. */
export type RecorderEvents = {
  /** The file is there and holds its initialization section. */
  segmentOpened(segment: OpenSegment): void
  /** The fragment is in the file; on the disk after the next sync. */
  fragmentWritten(cameraId: number, path: string, fragment: Fragment): void
  /** The file is on the disk and will not change. It may hold no fragment: then it is of no use. */
  segmentClosed(cameraId: number, path: string, checksum: number): void
  /** It will not change any more, and the disk has confirmed only its beginning: what was told of the rest is lost. */
  segmentBroken(cameraId: number, path: string, confirmed: ConfirmedPart): void
  /** `detail`: a sentence for the owner of the camera, set with 'ERROR'. */
  statusChanged(cameraId: number, status: RecordingStatus, detail?: string): void
  /** From now on nothing is recorded, for this reason; undefined: from now on it is again. */
  gapChanged(cameraId: number, reason: string | undefined): void
}

export type RecorderOptions = {
  readonly cameraId: number
  readonly archiveDir: string
  readonly clock: Clock
  readonly log: Logger
  readonly events: RecorderEvents
  readonly disk?: RecordingDisk
  /** Why there is no footage before what comes first; undefined when there never was any. */
  readonly startReason?: GapReason
  /** A file is about this long. */
  readonly segmentMs?: number
  /** Groups of pictures shorter than this are written together: of cameras all of whose pictures are key frames. */
  readonly minFragmentMs?: number
  /**
   * A group of pictures longer than this is written in parts, so that memory is bounded and the timeline is not late.
   */
  readonly maxFragmentMs?: number
  readonly maxFragmentBytes?: number
  /**
   * Bytes of frames that all recorders of a worker may hold; beyond it, frames are dropped up to the next key frame.
   * Default: its own.
   */
  readonly pendingBudget?: ByteBudget
  /** See `PendingBytes`. */
  readonly minPendingBytes?: number
  /** Longest time that written bytes stay unsynced. */
  readonly syncIntervalMs?: number
  /** Uniform in [0, 1): jitter of the attempts after a failure of the disk. */
  readonly random?: () => number
}

export type RecorderStats = {
  readonly status: RecordingStatus
  readonly fragments: number
  readonly bytes: number
  /** Video frames that were not recorded because the disk was slow or failing. */
  readonly droppedFrames: number
  /** Bytes of frames held: in the open fragment, or finished and waiting for the disk. */
  readonly pendingBytes: number
  /** Of these, waiting for the disk. */
  readonly queuedBytes: number
  readonly diskErrors: number
  /** How long the disk has been busy with what it was asked for. */
  readonly diskWaitMs: number
}

/** The budget of a recorder that shares none. */
const defaultBudgetBytes = 64 * 1024 * 1024

/** A gap in the frames of a run that is longer than this ends the file: no picture is shown that long. */
const maxFrameGap90k = 10 * 90_000

/** A file without any key frame to rotate at ends after this; the index relies on files below an hour. */
const maxSegmentMs = 30 * 60_000

export class CameraRecorder implements HubSink {
  /** Frames that are dropped are left to the collector. */
  readonly holdsMemory = true
  readonly #options: Required<Omit<RecorderOptions, 'startReason' | 'pendingBudget' | 'minPendingBytes'>>
  readonly #backoff: Backoff
  readonly #queue: WriteQueue
  readonly #pending: PendingBytes
  #run: RunStart | undefined
  /** Undefined while frames are skipped: before the first key frame, after a failure. */
  #cutter: FragmentCutter | undefined
  #gapReason: string | undefined
  #fileStartMs = 0
  #rotateAtMs = 0
  #lastDts90k = 0
  readonly #rhythm = new FrameRhythm()
  /** Time of the run's axis that the files leave out. */
  #skipped90k = 0
  readonly #holes = new OpenHoles()
  /** Where the fragment that was finished last ends. */
  #written = { end90k: 0, endMs: 0 }
  #hasOpenFile = false
  #isClosed = false
  #retryAtMs = 0
  readonly #overloads = new OverloadThrottle()
  /** Set after a failed sync: then a write that succeeds proves nothing. */
  #mustBeConfirmed = false
  #status: RecordingStatus = 'READY'
  #detail: string | undefined
  #droppedFrames = 0

  constructor({ startReason, pendingBudget, minPendingBytes, ...options }: RecorderOptions) {
    this.#pending = new PendingBytes(pendingBudget ?? new ByteBudget(defaultBudgetBytes), minPendingBytes)
    this.#options = {
      disk: options.disk ?? createNodeDisk(options.archiveDir),
      segmentMs: 60_000,
      minFragmentMs: 500,
      maxFragmentMs: 1500,
      maxFragmentBytes: 4 * 1024 * 1024,
      syncIntervalMs: 5000,
      random: Math.random,
      ...options,
    }
    this.#queue = new WriteQueue({
      ...this.#options,
      onTaken: () => this.#pending.hold(this.#pendingBytes),
      onWritten: () => this.#noteWritten(),
      onConfirmed: () => this.#noteConfirmed(),
      onUnconfirmed: (error, lostFrames) => this.#noteUnconfirmed(error, lostFrames),
      onFailed: (error, droppedFrames) => this.#fail(error, droppedFrames),
    })
    this.#backoff = new Backoff({ minMs: 1000, maxMs: 30_000, random: this.#options.random })
    this.#setStatus('CONNECTING')
    this.#setGap(startReason)
  }

  push(item: HubItem): void {
    if (this.#isClosed) return
    if (item.kind === 'start') this.#startRun(item)
    else if (item.kind === 'end') this.#endRun(item.reason)
    else if (item.kind === 'video') this.#pushVideo(item)
    else this.#cutter?.pushAudio(item)
    this.#pending.hold(this.#pendingBytes)
  }

  /**
   * To be called each `tickMs` (write-queue.ts): syncs what no fragment follows, and tells of a disk that takes too
   * long.
   */
  tick(): void {
    if (this.#queue.tick()) this.#tellSlow()
  }

  /**
   * Finishes the open fragment and file. Resolves when all is on the disk, or the disk has failed. `reason`: why no
   * more is recorded.
   */
  async close(reason: GapReason = 'stopped_by_user'): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true
      this.#setStatus('STOPPING')
      // Told again where that is why nothing was recorded before: since then the camera may have been away for another
      // reason.
      if (this.#gapReason === reason) this.#gapReason = undefined
      this.#endFile(reason)
      this.#setGap(reason)
    }
    await this.#queue.flush()
    this.#pending.hold(this.#pendingBytes)
    this.#setStatus('READY')
  }

  stats(): RecorderStats {
    return {
      status: this.#status,
      droppedFrames: this.#droppedFrames,
      pendingBytes: this.#pendingBytes,
      queuedBytes: this.#queue.queuedBytes,
      diskWaitMs: this.#queue.waitMs,
      ...this.#queue.stats(),
    }
  }

  get #pendingBytes(): number {
    return this.#queue.queuedBytes + (this.#cutter?.openBytes ?? 0)
  }

  #startRun(run: RunStart): void {
    if (this.#cutter) this.#endFile(run.clockSetMs === undefined ? 'stream_changed' : 'clock_set')
    this.#run = run
    this.#skipped90k = 0
  }

  #endRun(reason: GapReason): void {
    this.#endFile(reason)
    this.#setGap(reason)
    this.#run = undefined
    if (this.#status === 'RECORDING') this.#setStatus('CONNECTING')
  }

  #pushVideo(frame: Frame): void {
    if (!this.#run) return
    if (this.#cutter && this.#mustBreak(frame)) return
    if (!this.#cutter && !this.#resume(frame)) return
    this.#lastDts90k = frame.dts90k
    this.#cutter!.pushVideo(frame, this.#holes.isBefore(frame.dts90k))
  }

  /** True when this frame is dropped because the file had to end before it. */
  #mustBreak(frame: Frame): boolean {
    if (this.#pendingBytes + frame.data.length + frameCostBytes > this.#pending.maxBytes) {
      this.#droppedFrames += this.#cutter!.openFrames + 1
      const { cameraId, clock, log } = this.#options
      log.warn({ cameraId }, 'the disk is too slow; frames are dropped until the next key frame')
      this.#discardOpenFragment('overload')
      this.#overloads.noteOverload(clock.monotonicMs())
      this.#tellSlow()
      return true
    }
    const step90k = frame.dts90k - this.#lastDts90k
    const { usual90k } = this.#rhythm
    const hole = this.#rhythm.take(step90k, frame.isAfterLoss === true)
    const isGap = step90k > maxFrameGap90k
    const isEndless = frame.wallMs - this.#fileStartMs > maxSegmentMs
    const isCut = hole === 'loss' && frame.isKey
    if (isGap || isEndless || (isCut && frame.wallMs >= this.#rotateAtMs)) {
      this.#endFile(hole === 'loss' ? 'packet_loss' : 'no_frames')
      return !this.#resume(frame)
    }
    if (isCut) this.#cutHole(frame)
    else if (hole) this.#noteHole(frame, hole, step90k - usual90k)
    return false
  }

  /** Pictures were lost up to this key frame: the file goes on with it, without the time in between. */
  #cutHole(keyFrame: Frame): void {
    this.#cutter!.finish(this.#longestLast90k)
    const { end90k, endMs } = this.#written
    const durationMs = Math.max(0, Math.round(keyFrame.wallMs) - endMs)
    const spare90k = Math.max(0, keyFrame.dts90k - end90k - holeSeam90k)
    this.#skipped90k += Math.floor(spare90k / skipStep90k) * skipStep90k
    this.#holes.note(keyFrame.dts90k, { durationMs, reason: 'packet_loss' satisfies GapReason, isCut: true }, true)
    this.#beginCutter(true)
  }

  /** No picture came for a while, and this one needs the one before: that one lasts until it. */
  #noteHole(frame: Frame, hole: Hole, length90k: number): void {
    const reason: GapReason = hole === 'loss' ? 'packet_loss' : 'no_frames'
    const values = { durationMs: Math.round(length90k / 90), reason, isCut: false }
    this.#holes.note(frame.dts90k, values, hole === 'loss')
  }

  /** Nobody knows how long the last picture was shown; after a pause, not as long as the one before it. */
  get #longestLast90k(): number {
    return Math.round(2 * this.#rhythm.usual90k)
  }

  #addFragment(cut: CutFragment): void {
    const hole = this.#holes.take(cut)
    this.#written = { end90k: cut.start90k + cut.duration90k, endMs: cut.startMs + cut.durationMs }
    this.#pending.learn(cut.bytes, cut.durationMs)
    this.#queue.addFragment({ ...cut, skipped90k: this.#skipped90k, hole })
  }

  /** Begins to record again at a key frame, when the disk is due for an attempt and has room in its queue. */
  #resume(frame: Frame): boolean {
    const isDue = this.#options.clock.monotonicMs() >= Math.max(this.#retryAtMs, this.#overloads.resumeAtMs)
    const isReady = isDue && this.#queue.queuedBytes <= this.#pending.maxBytes / 2
    if (!frame.isKey || !isReady) {
      if (this.#gapReason === 'overload' || this.#retryAtMs > 0) this.#droppedFrames++
      return false
    }
    this.#beginCutter(false)
    return true
  }

  /** `continuesFile`: what comes next goes into the file that is open. */
  #beginCutter(continuesFile: boolean): void {
    const { maxFragmentBytes, minFragmentMs, maxFragmentMs } = this.#options
    let continues = continuesFile
    this.#cutter = new FragmentCutter(
      this.#run!.format,
      { minFragment90k: minFragmentMs * 90, maxFragment90k: maxFragmentMs * 90, maxFragmentBytes },
      {
        // A hole is told by a fragment after it in the same file.
        wantsNewFile: (keyFrame) => keyFrame.wallMs >= this.#rotateAtMs && !this.#holes.isBefore(keyFrame.dts90k),
        startFile: (keyFrame) => {
          if (!continues) this.#startFile(keyFrame)
          continues = false
        },
        addFragment: (cut) => this.#addFragment(cut),
      },
    )
  }

  #startFile(keyFrame: Frame): void {
    const { cameraId, segmentMs } = this.#options
    const startMs = Math.round(keyFrame.wallMs)
    if (this.#hasOpenFile) this.#queue.closeFile()
    this.#hasOpenFile = true
    this.#fileStartMs = startMs
    this.#overloads.noteFile(this.#options.clock.monotonicMs())
    this.#rotateAtMs = nextRotationMs(cameraId, startMs, segmentMs)
    const { runId, format } = this.#run!
    const runStart90k = keyFrame.dts90k - this.#skipped90k
    const plan = { cameraId, runId, format, runStart90k, startMs, gapReason: this.#gapReason }
    this.#setGap(undefined)
    this.#queue.openFile(plan)
  }

  /** Everything up to here is recorded; what comes next begins a file, after a gap for this reason. */
  #endFile(reason: string): void {
    const cutter = this.#cutter
    this.#cutter = undefined
    cutter?.finish(this.#longestLast90k)
    this.#closeFile(reason)
  }

  #discardOpenFragment(reason: string): void {
    this.#cutter = undefined
    this.#closeFile(reason)
  }

  #closeFile(reason: string): void {
    if (!this.#hasOpenFile) return
    this.#hasOpenFile = false
    this.#holes.clear()
    this.#setGap(reason)
    this.#queue.closeFile()
  }

  #noteWritten(): void {
    this.#backoff.reset()
    this.#retryAtMs = 0
    // Not while frames are skipped: what is written late was taken before.
    if (!this.#isClosed && this.#cutter && !this.#mustBeConfirmed) this.#setStatus('RECORDING')
  }

  #noteConfirmed(): void {
    if (!this.#mustBeConfirmed) return
    this.#mustBeConfirmed = false
    this.#noteWritten()
  }

  /** What waits, and what follows, goes into a new file. `error` is undefined when it was reported before. */
  #noteUnconfirmed(error: unknown, lostFrames: number): void {
    this.#droppedFrames += lostFrames
    if (error === undefined) return
    const { cameraId, log } = this.#options
    this.#mustBeConfirmed = true
    log.warn({ cameraId, lostFrames, error: errorChain(error) }, 'the disk did not confirm a recording')
    if (!this.#isClosed) this.#setStatus('ERROR', describeDiskError(error))
  }

  /** A new file is tried later. */
  #fail(error: unknown, droppedFrames: number): void {
    const { cameraId, clock, log } = this.#options
    this.#retryAtMs = clock.monotonicMs() + this.#backoff.nextMs()
    this.#droppedFrames += droppedFrames + (this.#cutter?.openFrames ?? 0)
    this.#cutter = undefined
    this.#holes.clear()
    this.#hasOpenFile = false
    log.warn({ cameraId, error: errorChain(error) }, 'recording failed')
    if (this.#isClosed) return
    this.#setGap(isDiskFull(error) ? 'disk_full' : 'disk_failed')
    this.#setStatus('ERROR', describeDiskError(error))
  }

  #tellSlow(): void {
    if (!this.#isClosed) this.#setStatus('ERROR', slowDisk)
  }

  #setGap(reason: string | undefined): void {
    if (reason === this.#gapReason) return
    this.#gapReason = reason
    this.#options.events.gapChanged(this.#options.cameraId, reason)
  }

  #setStatus(status: RecordingStatus, detail?: string): void {
    if (status === this.#status && detail === this.#detail) return
    this.#status = status
    this.#detail = detail
    this.#options.events.statusChanged(this.#options.cameraId, status, detail)
  }
}
