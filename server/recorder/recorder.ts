// Records one camera: reads its hub and writes files of one minute. The frames of a fragment are held in memory until
// it is complete, and fragments wait in a bounded queue while the disk is slow. The hub never waits. The order of
// writes, failures and their reasons: docs/design/recording.md.

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
import { type CutFragment, FragmentCutter } from '../media/mp4/fragment-cutter.ts'
import { FrameRhythm, type Hole } from '../model/frame-rhythm.ts'
import { holeSeam90k } from '../model/segment.ts'
import { describeDiskError, isDiskFull, slowDisk } from './disk-error.ts'
import { OpenHoles } from './open-holes.ts'
import { OverloadThrottle } from './overload-throttle.ts'
import { PendingBytes } from './pending-bytes.ts'
import type { RecorderEvents } from './recorder-events.ts'
import type { RecordingTargets } from './recording-targets.ts'
import { nextRotationMs } from './rotation.ts'
import { skipStep90k } from './segment-writer.ts'
import { WriteQueue } from './write-queue.ts'

export type RecorderOptions = {
  readonly cameraId: number
  /** Where files are created. */
  readonly targets: RecordingTargets
  readonly clock: Clock
  readonly log: Logger
  readonly events: RecorderEvents
  /** Why there is no footage before the first file; undefined if nothing was ever recorded. */
  readonly startReason?: GapReason
  /** Of the lease under which the camera is recorded; undefined if there is none. It becomes part of the file names. */
  readonly leaseEpoch?: number | undefined
  /**
   * Where the footage of before ends, Unix milliseconds: of another server, of this one before its start, or of a worker that
   * crashed. Some cameras begin each connection with frames of the last seconds, which may be recorded already.
   */
  readonly notBeforeMs?: number | undefined
  /** The approximate length of a file. */
  readonly segmentMs?: number
  /** Shorter groups of pictures are written together, for cameras that send only key frames. */
  readonly minFragmentMs?: number
  /** Longer groups of pictures are written in parts, which limits memory and the delay of the timeline. */
  readonly maxFragmentMs?: number
  readonly maxFragmentBytes?: number
  /**
   * Bytes of frames that all recorders of a worker may hold. Beyond it, frames are dropped up to the next key frame.
   */
  readonly pendingBudget?: ByteBudget
  /** See `PendingBytes`. */
  readonly minPendingBytes?: number
  /** The longest time that written bytes stay unsynced. */
  readonly syncIntervalMs?: number
  /** Returns uniform values in [0, 1) for the jitter of attempts after a disk failure. */
  readonly random?: () => number
}

export type RecorderStats = {
  readonly status: RecordingStatus
  readonly fragments: number
  readonly bytes: number
  /** Video frames that were not recorded because the disk was slow or failed. */
  readonly droppedFrames: number
  /** Bytes of held frames, which are in the open fragment or wait for the disk. */
  readonly pendingBytes: number
  /** The part of `pendingBytes` that waits for the disk. */
  readonly queuedBytes: number
  readonly diskErrors: number
  /** How long the current disk operation has been running. */
  readonly diskWaitMs: number
}

/** The budget of a recorder without a shared one. */
const defaultBudgetBytes = 64 * 1024 * 1024

/**
 * A longer gap in the frames of a run ends the file. Cameras that answer may pause for 30 s within a connection
 * (`ConnectionLimits.answeringMs`).
 */
const maxFrameGap90k = 40 * 90_000
/** The wall clock follows the axis slowly, so it may say that less time has passed. */
const maxEarlyMs = 500

/** Cameras keep no more than their last group of pictures. */
const maxKeptMs = 10_000

/** A change of the stream takes no longer by itself. */
const shortBreakMs = 1000

/**
 * A file without a key frame at which it could end is ended after this time. The index relies on files below an hour.
 */
const maxSegmentMs = 30 * 60_000

export class CameraRecorder implements HubSink {
  /** The memory of dropped frames is left to the collector of V8. */
  readonly holdsMemory = true
  readonly #options: Required<
    Omit<RecorderOptions, 'startReason' | 'leaseEpoch' | 'notBeforeMs' | 'pendingBudget' | 'minPendingBytes'>
  >
  readonly #leaseEpoch: number | undefined
  #notBeforeMs: number | undefined
  readonly #backoff: Backoff
  readonly #queue: WriteQueue
  readonly #pending: PendingBytes
  #run: RunStart | undefined
  /** Undefined while frames are skipped: before the first key frame and after a failure. */
  #cutter: FragmentCutter | undefined
  #gapReason: string | undefined
  #fileStartMs = 0
  #rotateAtMs = 0
  #lastDts90k = 0
  #lastWallMs = 0
  readonly #rhythm = new FrameRhythm()
  /** The total time of the run that the files omit. */
  #skipped90k = 0
  readonly #holes = new OpenHoles()
  /** The end of the last finished fragment. */
  #written = { end90k: 0, endMs: 0 }
  #hasOpenFile = false
  #isClosed = false
  #retryAtMs = 0
  readonly #overloads = new OverloadThrottle()
  /** Set after a failed sync, after which a successful write proves nothing. */
  #mustBeConfirmed = false
  #status: RecordingStatus = 'READY'
  #detail: string | undefined
  #droppedFrames = 0

  constructor(given: RecorderOptions) {
    const { startReason, leaseEpoch, notBeforeMs, pendingBudget, minPendingBytes, ...options } = given
    this.#leaseEpoch = leaseEpoch
    this.#notBeforeMs = notBeforeMs
    this.#pending = new PendingBytes(pendingBudget ?? new ByteBudget(defaultBudgetBytes), minPendingBytes)
    this.#options = {
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
      onFailed: (error, droppedFrames, isElsewhere) => this.#fail(error, droppedFrames, isElsewhere),
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

  /** Must be called every `tickMs` (write-queue.ts). Syncs bytes that no fragment follows, and reports a slow disk. */
  tick(): void {
    if (this.#queue.tick()) this.#reportSlow()
  }

  /**
   * Finishes the open fragment and file. Resolves when everything is on the disk or the disk has failed. `reason`: why
   * recording ends.
   */
  async close(reason: GapReason = 'stopped_by_user'): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true
      this.#setStatus('STOPPING')
      // The same reason is reported again, because the camera may meanwhile have been away for another reason.
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
    if (!this.#cutter && (this.#isRecorded(frame) || !this.#resume(frame))) return
    this.#lastDts90k = frame.dts90k
    this.#lastWallMs = frame.wallMs
    this.#cutter!.pushVideo(frame, this.#holes.isBefore(frame.dts90k) || undefined)
  }

  /** True for a frame that was recorded before, as far as a camera may keep frames. */
  #isRecorded({ wallMs }: Frame): boolean {
    const aheadMs = (this.#notBeforeMs ?? Number.NEGATIVE_INFINITY) - wallMs
    if (aheadMs > 0 && aheadMs < maxKeptMs) return true
    this.#notBeforeMs = undefined
    return false
  }

  /** Returns true if this frame is dropped because the file had to end before it. */
  #mustBreak(frame: Frame): boolean {
    if (this.#pendingBytes + frame.data.length + frameCostBytes > this.#pending.maxBytes) {
      this.#droppedFrames += this.#cutter!.openFrames + 1
      const { cameraId, clock, log } = this.#options
      log.warn({ cameraId }, 'the disk is too slow, and frames are dropped until the next key frame')
      this.#discardOpenFragment('overload')
      this.#overloads.noteOverload(clock.monotonicMs())
      this.#reportSlow()
      return true
    }
    const step90k = frame.dts90k - this.#lastDts90k
    const { usual90k } = this.#rhythm
    // A camera's clock that steps ahead by less than a jump moves the axis, but no time has passed without frames.
    const passed90k = Math.min(step90k, (frame.wallMs - this.#lastWallMs + maxEarlyMs) * 90)
    const hole = this.#rhythm.take(passed90k, frame.isAfterLoss === true)
    const isGap = step90k > maxFrameGap90k
    const isEndless = frame.wallMs - this.#fileStartMs > maxSegmentMs
    const isCut = hole === 'loss' && frame.isKey
    if (isGap || isEndless || (isCut && frame.wallMs >= this.#rotateAtMs)) {
      this.#endFile(hole === 'loss' ? 'packet_loss' : 'no_frames')
      return !this.#resume(frame)
    }
    if (isCut) this.#cutHole(frame)
    else if (hole) this.#noteHole(frame, hole, passed90k - usual90k)
    return false
  }

  /** Handles frames lost up to this key frame: the file continues with it and omits the time in between. */
  #cutHole(keyFrame: Frame): void {
    this.#cutter!.finish(this.#longestLast90k)
    const { end90k, endMs } = this.#written
    const durationMs = Math.max(0, Math.round(keyFrame.wallMs) - endMs)
    const spare90k = Math.max(0, keyFrame.dts90k - end90k - holeSeam90k)
    this.#skipped90k += Math.floor(spare90k / skipStep90k) * skipStep90k
    this.#holes.note(keyFrame.dts90k, { durationMs, reason: 'packet_loss' satisfies GapReason, isCut: true }, true)
    this.#beginCutter(true)
  }

  /** Handles a pause before a frame that depends on the previous frame, which is therefore displayed until this one. */
  #noteHole(frame: Frame, hole: Hole, length90k: number): void {
    const reason: GapReason = hole === 'loss' ? 'packet_loss' : 'no_frames'
    const values = { durationMs: Math.round(length90k / 90), reason, isCut: false }
    this.#holes.note(frame.dts90k, values, hole === 'loss')
  }

  /** The duration of the last frame is unknown. After a pause, it is not as long as that of the previous frame. */
  get #longestLast90k(): number {
    return Math.round(2 * this.#rhythm.usual90k)
  }

  #addFragment(cut: CutFragment): void {
    const hole = this.#holes.take(cut)
    this.#written = { end90k: cut.start90k + cut.duration90k, endMs: cut.startMs + cut.durationMs }
    this.#pending.learn(cut.bytes, cut.durationMs)
    this.#queue.addFragment({ ...cut, skipped90k: this.#skipped90k, hole })
  }

  /** Resumes recording at a key frame if the disk is due for an attempt and has room in its queue. */
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

  /** `continuesFile`: the next fragment is written to the open file. */
  #beginCutter(continuesFile: boolean): void {
    const { maxFragmentBytes, minFragmentMs, maxFragmentMs } = this.#options
    let continues = continuesFile
    this.#cutter = new FragmentCutter(
      this.#run!.format,
      { minFragment90k: minFragmentMs * 90, maxFragment90k: maxFragmentMs * 90, maxFragmentBytes },
      {
        // A hole is reported by the fragment after it in the same file.
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
    const gapReason = this.#isLossBefore(keyFrame) ? 'packet_loss' : this.#gapReason
    const plan = { cameraId, runId, format, runStart90k, startMs, gapReason, leaseEpoch: this.#leaseEpoch }
    this.#setGap(undefined)
    this.#queue.openFile(plan)
  }

  /** Frames that were lost just before the stream changed are not missing because it did. */
  #isLossBefore({ isAfterLoss, wallMs }: Frame): boolean {
    return this.#gapReason === 'stream_changed' && isAfterLoss === true && wallMs - this.#written.endMs > shortBreakMs
  }

  /** Ends the file after the frames so far. The next file begins after a gap for this reason. */
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
    // While frames are skipped, a late write says nothing about new frames.
    if (!this.#isClosed && this.#cutter && !this.#mustBeConfirmed) this.#setStatus('RECORDING')
  }

  #noteConfirmed(): void {
    if (!this.#mustBeConfirmed) return
    this.#mustBeConfirmed = false
    this.#noteWritten()
  }

  /** Frames that wait or follow are written to a new file. `error` is undefined if it was reported before. */
  #noteUnconfirmed(error: unknown, lostFrames: number): void {
    this.#droppedFrames += lostFrames
    if (error === undefined) return
    const { cameraId, log } = this.#options
    this.#mustBeConfirmed = true
    log.warn({ cameraId, lostFrames, error: errorChain(error) }, 'the disk did not confirm a recording')
    if (!this.#isClosed) this.#setStatus('ERROR', describeDiskError(error))
  }

  /** A new file is attempted at once in another place, or later. */
  #fail(error: unknown, droppedFrames: number, isElsewhere: boolean): void {
    const { cameraId, clock, log } = this.#options
    this.#retryAtMs = isElsewhere ? 0 : clock.monotonicMs() + this.#backoff.nextMs()
    this.#droppedFrames += droppedFrames + (this.#cutter?.openFrames ?? 0)
    this.#cutter = undefined
    this.#holes.clear()
    this.#hasOpenFile = false
    log.warn({ cameraId, error: errorChain(error) }, 'recording failed')
    if (this.#isClosed) return
    this.#setGap(isDiskFull(error) ? 'disk_full' : 'disk_failed')
    this.#setStatus('ERROR', describeDiskError(error))
  }

  #reportSlow(): void {
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
