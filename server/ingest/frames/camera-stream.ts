// Turns the packets of one session, or the access units of one container, into runs and frames on the hub. It combines
// packet loss, clock jumps and changes of the format.

import type { HubItem } from '../../hub/hub-item.ts'
import type { Frame, PictureOrder, StreamFormat, VideoFormat } from '../../media/frame.ts'
import type { FrameMemory, FrameMemoryPool } from '../../media/frame-memory.ts'
import type { AudioTranscoder } from '../../media/telephony/audio-transcoder.ts'
import { createSilence } from '../../media/telephony/silence.ts'
import type { FrameAccess, VideoDepacketizer } from '../../media/video-depacketizer.ts'
import type { ArrivalClock } from '../clock/arrival-clock.ts'
import { TimestampCheck } from '../clock/timestamp-check.ts'
import { WallClock } from '../clock/wall-clock.ts'
import type { SharedReads } from '../network/shared-reads.ts'
import type { StreamPlan } from '../plan/stream-plan.ts'
import { createVideoDepacketizer } from '../plan/video-plan.ts'
import { AudioTrack } from './audio-track.ts'
import type { CameraStats } from './camera-stats.ts'
import { FrameBacklog, type HeldAudio, type HeldFrame, settledBacklogMs } from './frame-backlog.ts'
import { MissingFrames } from './missing-frames.ts'
import { RtpReceiver } from './rtp-receiver.ts'
import { maxUnreportedMs, RunLimit } from './run-limit.ts'
import { SilenceFiller } from './silence-filler.ts'

/** After the thread was blocked, everything that had arrived meanwhile has been read within this time. */
const backlogMs = 250

/** The last frame of the connection before may be dated so much later when it is repeated. It is less than a frame lasts. */
const repeatedMs = 40
/** On a busy machine, the clocks of two connections differ by more. Then the last key frame is known by its bytes. */
const repeatedKeyMs = 500
/** Compressed data this long does not occur twice at the end of frames of the same length, unless the image stands still. */
const tailBytes = 64

/** Packets of one frame do not come later than this after one that is marked as the last. */
const settledMs = 1000

/** What a frame is known by without its data. */
export type FrameMark = { readonly bytes: number; readonly tail: Uint8Array }

export type CameraStreamOptions = {
  readonly plan: StreamPlan
  readonly arrivalClock: ArrivalClock
  readonly stats: CameraStats
  /** Time of the camera's last frame so far, by `arrivalClock`. Later frames are never stamped earlier. */
  readonly floorMs: number
  /** What earlier connections learned about the camera's clock, and their last key frame. This connection updates it. */
  readonly memory?: { clockRate: number; setMs: number | undefined; lastKey: FrameMark | undefined }
  readonly createRunId: () => string
  /** Shared by the connections of the thread; reports when the thread was last blocked. */
  readonly reads?: Pick<SharedReads, 'sinceStandstillMs' | 'sinceStandstillBeganMs'> | undefined
  /** Shared by all connections of the camera. Default: a new limit. */
  readonly runLimit?: RunLimit | undefined
  /** Transcodes audio that browsers cannot play. Without it, such audio is dropped. */
  readonly transcoder?: AudioTranscoder | undefined
  /** The memory of frames. Without it, memory is not reused. */
  readonly pool?: FrameMemoryPool | undefined
  /** See `NalDepacketizerOptions`. */
  readonly keepsDamaged?: (() => boolean) | undefined
  /** A consumer that reads a frame's `data` after `publish` returns must retain its memory. */
  publish(item: HubItem): void
  /** Takes what was thrown while no method was called. Without it, it is uncaught. */
  readonly onFailure?: ((error: unknown) => void) | undefined
  /** Called when a run begins, after its `start` was published and before its first frame is. */
  onRun(format: StreamFormat): void
}

export class CameraStream implements Disposable {
  readonly videoReceiver: RtpReceiver
  readonly audio: AudioTrack | undefined
  readonly #options: CameraStreamOptions
  readonly #depacketizer: VideoDepacketizer
  readonly #clock: WallClock
  #format: VideoFormat | undefined
  #order: PictureOrder | undefined
  /** Format of the current run; undefined when it has ended. */
  #runFormat: VideoFormat | undefined
  readonly #runLimit: RunLimit
  /** True while frames up to the next key frame are dropped because they belong to a refused run. */
  #isSkipping = false
  /** Time of arrival of the last frame that was not dropped, by the arrival clock. */
  #keptMs = Number.NaN
  /**
   * Time of arrival of the last packet with the marker bit. It is also that of a frame which ends only at the next
   * packet.
   */
  #markedMs = 0
  #markedTimestamp = Number.NaN
  /** For a camera with audio: gives every run an audio track without holes. */
  readonly #filler: SilenceFiller | undefined
  readonly #timestamps = new TimestampCheck()
  #backlog = new FrameBacklog()
  #backlogTimer: NodeJS.Timeout | undefined
  /** The frames that are held waited for the thread. */
  #isAfterStandstill = false
  /** False until the first frame of the connection has a time. */
  #hasBegun = false
  /** True while the camera repeats frames that were published from the connection before. */
  #isRepeating = false
  readonly #missing = new MissingFrames()
  #published = 0
  /** `ArrivalClock.setMs` with which the current run is labeled. A clock that was set takes effect in the next run. */
  #setMs: number
  /** The depacketizer's number of losses when the last frame was published. */
  #knownLosses = 0
  /** True if the last key frame began the current run. */
  #isRunStart = false

  constructor(options: CameraStreamOptions) {
    const { plan, stats, floorMs, memory, pool, runLimit = new RunLimit() } = options
    this.#options = options
    this.#runLimit = runLimit
    this.#clock = new WallClock(floorMs, memory?.clockRate)
    this.#setMs = memory?.setMs ?? options.arrivalClock.setMs
    this.videoReceiver = new RtpReceiver(plan.video.payloadType, stats)
    const sink = {
      onFormat: (format: VideoFormat, order: PictureOrder) => {
        this.#takeBacklog()
        this.#format = format
        this.#order = order
      },
      onFrame: (data: Uint8Array, timestamp: number, isKey: boolean, memory?: FrameMemory, access?: FrameAccess) =>
        this.#takeFrame(data, timestamp, isKey, memory, access),
    }
    this.#depacketizer = createVideoDepacketizer(plan.video, sink, {
      onBadSet: () => stats.badPackets++,
      pool,
      keepsDamaged: options.keepsDamaged,
      onDeviation: (deviation) => stats.deviations.add(deviation),
    })
    if (plan.audio?.hasClientDirection) stats.deviations.add('client_directions')
    const canRead = plan.audio?.coding.kind !== 'telephone' || options.transcoder !== undefined
    const silence = plan.audio && createSilence(plan.audio.format)
    if (!plan.audio || !silence || !canRead) return
    const filler = new SilenceFiller(plan.audio.format, silence, (frame, isSilence) => {
      if (!isSilence) stats.audioFrames++
      options.publish(frame)
    })
    this.#filler = filler
    this.audio = new AudioTrack({
      ...options,
      plan: plan.audio,
      videoClock: this.#clock,
      toVideoMs: (timestamp) => this.videoReceiver.toContinuous(timestamp) / 90,
      onBlock: (frame) => filler.takeBlock(this.#setMs === 0 ? frame : { ...frame, wallMs: this.#label(frame.wallMs) }),
    })
  }

  /** Time of the last frame; see `floorMs`. */
  get lastWallMs(): number {
    return this.#clock.wallMs
  }

  /** The number of frames that arrived, published or not. It shows that the camera is alive. */
  get frames(): number {
    return this.#depacketizer.counters.frames
  }

  /** The number of published frames. */
  get published(): number {
    return this.#published
  }

  get hasParameterSets(): boolean {
    return this.#depacketizer.hasParameterSets
  }

  /** Takes the RTP-Info of the response to PLAY: raw timestamps of the same moment. */
  alignAudio(videoTime: number, audioTime: number): void {
    this.audio?.align(videoTime, audioTime)
  }

  takeVideoPacket(bytes: Uint8Array, start: number, end: number): void {
    const { videoReceiver: receiver } = this
    if (!receiver.take(bytes, start, end)) {
      for (const packet of receiver.takeHeld()) this.takeVideoPacket(packet, 0, packet.length)
      return
    }
    if (receiver.isAfterLoss) this.#depacketizer.markLoss()
    this.#options.stats.droppedFrames += this.#missing.take(receiver.timestamp, receiver.isAfterLoss)
    const { payloadStart, payloadEnd, isMarked, extensionProfile, extensionStart } = receiver.header
    if (extensionProfile >= 0) this.#depacketizer.takeExtension?.(extensionProfile, bytes, extensionStart, payloadStart)
    if (isMarked) {
      this.#markedTimestamp = receiver.timestamp
      this.#markedMs = this.#options.arrivalClock.nowMs()
    }
    this.#depacketizer.push(bytes, payloadStart, payloadEnd, receiver.timestamp, isMarked)
  }

  /**
   * Takes the NAL units of one access unit of a container. `timestamp90k`: its presentation time, which does not wrap.
   */
  takeAccessUnit(units: readonly Uint8Array[], timestamp90k: number): void {
    this.#markedTimestamp = timestamp90k
    this.#markedMs = this.#options.arrivalClock.nowMs()
    for (const [i, unit] of units.entries()) {
      this.#depacketizer.push(unit, 0, unit.length, timestamp90k, i === units.length - 1)
    }
  }

  /**
   * To be called now and then. Publishes a frame that waits for the next packet to be complete, if its last packet said so
   * a while ago. Some cameras send the next one much later.
   */
  tick(): void {
    if (this.#options.arrivalClock.nowMs() - this.#markedMs >= settledMs) this.#depacketizer.endMarked?.()
  }

  /** Reports that data is missing before the next access unit. */
  markLoss(): void {
    this.#depacketizer.markLoss()
  }

  takeAudioPacket(bytes: Uint8Array, start: number, end: number): void {
    const arrivalMs = this.#options.arrivalClock.nowMs()
    if (!this.#backlog.isHolding) this.audio?.takePacket(bytes, start, end, arrivalMs)
    else this.#backlog.holdAudio({ data: bytes.slice(start, end), timestamp: undefined, arrivalMs })
  }

  /** Takes audio of a container. `timestamp`: see `AudioTrack.takePayload`. */
  takeAudioPayload(data: Uint8Array, timestamp: number): void {
    const arrivalMs = this.#options.arrivalClock.nowMs()
    if (!this.#backlog.isHolding) this.audio?.takePayload(data, 0, data.length, timestamp, arrivalMs)
    else this.#backlog.holdAudio({ data: data.slice(), timestamp, arrivalMs })
  }

  /** Adds the counters of the depacketizers and the clock to those of the camera and resets them. */
  collectStats(): void {
    const { stats, memory } = this.#options
    const { droppedFrames, badPayloads } = this.#depacketizer.counters
    stats.droppedFrames += droppedFrames
    stats.badPackets += badPayloads + (this.audio?.takeBadPayloads() ?? 0)
    stats.reorderedFrames += this.#clock.reorderedFrames
    stats.clockJumps += this.#clock.jumps
    stats.retimedFrames += this.#clock.retimedFrames
    stats.clockRate = this.#clock.rate
    if (memory) memory.clockRate = this.#clock.rate
    Object.assign(this.#depacketizer.counters, { droppedFrames: 0, badPayloads: 0 })
    this.#clock.reorderedFrames = 0
    this.#clock.jumps = 0
    this.#clock.retimedFrames = 0
  }

  [Symbol.dispose](): void {
    this.#takeBacklog()
    this.audio?.close()
    this.#filler?.endRun()
  }

  #takeFrame(
    data: Uint8Array,
    timestamp: number,
    isKey: boolean,
    memory: FrameMemory | undefined,
    access: FrameAccess | undefined,
  ): void {
    const arrivalMs = timestamp === this.#markedTimestamp ? this.#markedMs : this.#options.arrivalClock.nowMs()
    const { losses } = this.#depacketizer.counters
    const timestamp90k = this.#checkTimestamp(timestamp, arrivalMs)
    const frame: HeldFrame = { data, timestamp90k, isKey, memory, access, arrivalMs, losses }
    const isLate = (this.#options.reads?.sinceStandstillMs() ?? Number.POSITIVE_INFINITY) < backlogMs
    if (!this.#backlog.isHolding) {
      const isUnknown =
        isLate || !this.#hasBegun
          ? this.#clock.isNew(timestamp90k, arrivalMs)
          : this.#clock.isForeign(timestamp90k, arrivalMs)
      if (!isUnknown) {
        this.#placeVideo(frame, isLate)
        return
      }
      this.#isAfterStandstill = isLate
    }
    this.#backlog.hold(frame)
    const isCatchingUp = isLate || this.#backlog.isCatchingUp
    if (!isCatchingUp) this.#takeBacklog()
    else if (this.#backlog.isFull) this.#takeBacklog()
    else if (!isLate) this.#awaitBacklog()
  }

  /** The timestamp, or the time of arrival of a camera whose timestamps are no clock. */
  #checkTimestamp(timestamp90k: number, arrivalMs: number): number {
    const check = this.#timestamps
    check.take(timestamp90k, arrivalMs)
    if (!check.isUnusable) return timestamp90k
    this.#options.stats.deviations.add('unusable_timestamps')
    return Math.round(arrivalMs * 90)
  }

  /** If no frame follows, what is held is all that the camera sent at once. */
  #awaitBacklog(): void {
    const take = () => {
      try {
        this.#takeBacklog()
      } catch (error) {
        if (!this.#options.onFailure) throw error
        this.#options.onFailure(error)
      }
    }
    this.#backlogTimer ??= setTimeout(take, settledBacklogMs)
    this.#backlogTimer.refresh()
  }

  #takeBacklog(): void {
    clearTimeout(this.#backlogTimer)
    this.#backlogTimer = undefined
    if (!this.#backlog.isHolding) return
    const isContinued = this.#hasBegun && this.#isAfterStandstill
    const held = this.#backlog.list({
      isInOrder: this.#order?.maxDepth === 0,
      afterMs: isContinued ? this.#earliestMs() : undefined,
    })
    this.#backlog = new FrameBacklog()
    for (const each of held) {
      if ('frame' in each) this.#placeVideo(each.frame)
      else this.#placeAudio(each.audio)
    }
  }

  /** What has waited for the thread was taken after the last frame, and arrived after the thread was blocked. */
  #earliestMs(): number {
    const { arrivalClock, reads } = this.#options
    return Math.max(this.#clock.wallMs, arrivalClock.nowMs() - (reads?.sinceStandstillBeganMs() ?? 0))
  }

  #placeAudio({ data, timestamp, arrivalMs }: HeldAudio): void {
    if (timestamp === undefined) this.audio?.takePacket(data, 0, data.length, arrivalMs)
    else this.audio?.takePayload(data, 0, data.length, timestamp, arrivalMs)
  }

  /** `hasWaited`: see `WallClock.map`. */
  #placeVideo(
    { data, timestamp90k: timestamp, isKey, memory, access, arrivalMs: nowMs, losses }: HeldFrame,
    hasWaited = false,
  ): void {
    const { stats, publish, memory: learned } = this.#options
    if (!this.#hasBegun || (this.#isRepeating && isKey)) this.#isRepeating = this.#isRepeated(data, isKey, nowMs)
    this.#hasBegun = true
    if (this.#isRepeating) {
      memory?.release()
      return
    }
    if (access?.isLeading && this.#isRunStart) {
      // It refers to frames of the previous run, which the decoder of this run does not have.
      stats.droppedFrames++
      memory?.release()
      return
    }
    this.#clock.map(timestamp, nowMs, hasWaited)
    if (isKey) this.#isRunStart = false
    if (isKey) this.#isSkipping = this.#isRunDue && !this.#tryRun(nowMs)
    if (this.#isSkipping) {
      this.#skip(nowMs, memory)
      return
    }
    this.#keptMs = nowMs
    if (isKey && learned) learned.lastKey = markFrame(data)
    const { pts90k, dts90k } = this.#clock
    const wallMs = this.#label(this.#clock.wallMs)
    const isAfterLoss = losses !== this.#knownLosses
    this.#knownLosses = losses
    this.#filler?.takeVideo(dts90k, wallMs)
    stats.videoFrames++
    this.#published++
    const frame: Frame = { kind: 'video', pts90k, dts90k, wallMs, isKey, isAfterLoss, data, memory }
    publish(access ? { ...frame, ...access } : frame)
    memory?.release()
  }

  /** True for a frame that was published from the connection before. */
  #isRepeated(data: Uint8Array, isKey: boolean, nowMs: number): boolean {
    const { floorMs, memory } = this.#options
    if (nowMs < floorMs + repeatedMs) return true
    return isKey && nowMs < floorMs + repeatedKeyMs && memory?.lastKey !== undefined && hasMark(data, memory.lastKey)
  }

  /**
   * Begins a run at a key frame. Returns false if the camera may not begin one now and this frame does not fit into the
   * current run.
   */
  #tryRun(nowMs: number): boolean {
    if (this.#runLimit.take(nowMs)) {
      this.#beginRun()
      return true
    }
    this.#options.stats.refusedRuns++
    // After a jump of the camera's clock the current run can continue, because its time follows the arrival of frames.
    return !this.#isFormatNew
  }

  /** Drops a frame. Ends the run after some time without frames, so that the timeline shows a gap with its reason. */
  #skip(nowMs: number, memory: FrameMemory | undefined): void {
    const { stats, publish } = this.#options
    stats.droppedFrames++
    memory?.release()
    if (this.#runFormat === undefined || nowMs - this.#keptMs <= maxUnreportedMs) return
    this.#filler?.endRun()
    this.#runFormat = undefined
    publish({ kind: 'end', reason: 'stream_changed' })
  }

  get #isFormatNew(): boolean {
    return this.#runFormat === undefined || !isSameFormat(this.#format!, this.#runFormat)
  }

  get #isRunDue(): boolean {
    return this.#isFormatNew || this.#clock.isRunDue || this.#options.arrivalClock.setMs !== this.#setMs
  }

  /** Converts a time of the arrival clock to the time of day of the current run. */
  #label(arrivalClockMs: number): number {
    return Math.round(arrivalClockMs + this.#setMs)
  }

  #beginRun(): void {
    this.#isRunStart = true
    const { stats, publish, createRunId, onRun, arrivalClock, memory } = this.#options
    this.#filler?.endRun()
    const clockSetMs = arrivalClock.setMs - this.#setMs
    this.#setMs = arrivalClock.setMs
    if (memory) memory.setMs = this.#setMs
    const isNewClock = this.#clock.beginRun(this.#order)
    this.audio?.beginRun(isNewClock)
    this.#filler?.beginRun()
    this.#runFormat = this.#format
    stats.runs++
    const format = { video: this.#format!, audio: this.audio?.plan.format }
    publish({ kind: 'start', runId: createRunId(), format, ...(clockSetMs !== 0 && { clockSetMs }) })
    onRun(format)
  }
}

function markFrame(data: Uint8Array): FrameMark {
  return { bytes: data.length, tail: data.slice(-tailBytes) }
}

function hasMark(data: Uint8Array, { bytes, tail }: FrameMark): boolean {
  return data.length === bytes && Buffer.compare(data.subarray(-tailBytes), tail) === 0
}

function isSameFormat(a: VideoFormat, b: VideoFormat): boolean {
  const isSameKind = a.codec === b.codec && a.width === b.width && a.height === b.height
  return a === b || (isSameKind && Buffer.compare(a.config, b.config) === 0)
}
