// The packets of one session, or of one container, -> runs and frames on the hub. Where loss, jumps of the clock and changes of format come together.

import type { HubItem } from '../hub/hub-item.ts'
import type { Frame, PictureOrder, StreamFormat, VideoFormat } from '../media/frame.ts'
import type { FrameMemory, FrameMemoryPool } from '../media/frame-memory.ts'
import type { SoundTranscoder } from '../media/sound/sound-transcoder.ts'
import type { VideoDepacketizer } from '../media/video-depacketizer.ts'
import type { ArrivalClock } from './arrival-clock.ts'
import { AudioTrack } from './audio-track.ts'
import type { CameraStats } from './camera-stats.ts'
import { HeldStart } from './held-start.ts'
import { RtpReceiver } from './rtp-receiver.ts'
import type { StreamPlan } from './stream-plan.ts'
import { createVideoDepacketizer } from './video-plan.ts'
import { WallClock } from './wall-clock.ts'

export type CameraStreamOptions = {
  readonly plan: StreamPlan
  readonly arrivalClock: ArrivalClock
  readonly stats: CameraStats
  /** Wall clock of the camera's last frame so far, which the next ones do not go behind. */
  readonly floorMs: number
  readonly createRunId: () => string
  /** For sound that browsers don't play; without, it is left out. */
  readonly transcoder?: SoundTranscoder | undefined
  /** Where pictures lie; without, memory is used once. */
  readonly pool?: FrameMemoryPool | undefined
  /** What reads a frame's `data` after it returns holds its memory. */
  publish(item: HubItem): void
  /** A run has begun: after its `start` was published and before its first frame is. */
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
  #isFormatNew = false
  /** When the last marked video packet came: a picture that waits for the next one to end it came then. */
  #markedMs = 0
  #markedTimestamp = Number.NaN
  /** The run that has begun, but has not been told of. */
  #held: HeldStart | undefined
  /** Whether the present run has sound; undefined before the first. */
  #hasSound: boolean | undefined
  #published = 0

  constructor(options: CameraStreamOptions) {
    const { plan, stats, floorMs, pool } = options
    this.#options = options
    this.#clock = new WallClock(floorMs)
    this.videoReceiver = new RtpReceiver(plan.video.payloadType, stats)
    const sink = {
      onFormat: (format: VideoFormat, order: PictureOrder) => {
        this.#format = format
        this.#order = order
        this.#isFormatNew = true
      },
      onPicture: (data: Uint8Array, timestamp: number, isKey: boolean, memory?: FrameMemory) =>
        this.#takePicture(data, timestamp, isKey, memory),
    }
    this.#depacketizer = createVideoDepacketizer(plan.video, sink, { onBadSet: () => stats.badPackets++, pool })
    this.audio =
      plan.audio &&
      new AudioTrack({
        ...options,
        plan: plan.audio,
        videoClock: this.#clock,
        toVideoMs: (timestamp) => this.videoReceiver.toContinuous(timestamp) / 90,
        onBlock: (frame) => this.#takeBlock(frame),
      })
  }

  /** Wall clock of the last frame; see `floorMs`. */
  get lastWallMs(): number {
    return this.#clock.wallMs
  }

  /** Pictures that came, published or not: the sign of life of a camera. */
  get pictures(): number {
    return this.#depacketizer.counters.pictures
  }

  /** Of these, those that were published. */
  get published(): number {
    return this.#published
  }

  get hasParameterSets(): boolean {
    return this.#depacketizer.hasParameterSets
  }

  /** RTP-Info of the answer to PLAY: raw timestamps of one and the same moment. */
  alignAudio(videoTime: number, audioTime: number): void {
    this.audio?.align(videoTime, audioTime)
  }

  takeVideoPacket(bytes: Uint8Array, start: number, end: number): void {
    const { videoReceiver: receiver } = this
    if (!receiver.take(bytes, start, end)) return
    if (receiver.isAfterLoss) this.#depacketizer.markLoss()
    const { payloadStart, payloadEnd, isMarked } = receiver.header
    if (isMarked) {
      this.#markedTimestamp = receiver.timestamp
      this.#markedMs = this.#options.arrivalClock.nowMs()
    }
    this.#depacketizer.push(bytes, payloadStart, payloadEnd, receiver.timestamp, isMarked)
  }

  /** What a container holds: the NAL units of one access unit, shown at `timestamp90k`, which does not wrap. */
  takeAccessUnit(units: readonly Uint8Array[], timestamp90k: number): void {
    this.#markedTimestamp = timestamp90k
    this.#markedMs = this.#options.arrivalClock.nowMs()
    for (const [i, unit] of units.entries()) {
      this.#depacketizer.push(unit, 0, unit.length, timestamp90k, i === units.length - 1)
    }
  }

  /** Something is missing before the next access unit. */
  markLoss(): void {
    this.#depacketizer.markLoss()
  }

  takeAudioPacket(bytes: Uint8Array, start: number, end: number): void {
    this.audio?.takePacket(bytes, start, end)
  }

  /** Brings the counters kept in the depacketizers and the clock into the camera's; once, at the end or whenever read. */
  collectStats(): void {
    const { stats } = this.#options
    const { droppedFrames, badPayloads } = this.#depacketizer.counters
    stats.droppedFrames += droppedFrames
    stats.badPackets += badPayloads + (this.audio?.takeBadPayloads() ?? 0)
    stats.reorderedFrames += this.#clock.reorderedFrames
    stats.clockJumps += this.#clock.jumps
    Object.assign(this.#depacketizer.counters, { droppedFrames: 0, badPayloads: 0 })
    this.#clock.reorderedFrames = 0
    this.#clock.jumps = 0
  }

  [Symbol.dispose](): void {
    this.audio?.close()
  }

  #takeBlock(frame: Frame): void {
    // Sound of a run that was begun without it waits for the next key frame.
    if (!this.#held && !this.#hasSound) return
    this.#publish(frame)
  }

  #takePicture(data: Uint8Array, timestamp: number, isKey: boolean, memory: FrameMemory | undefined): void {
    const { arrivalClock } = this.#options
    this.#clock.map(timestamp, timestamp === this.#markedTimestamp ? this.#markedMs : arrivalClock.nowMs())
    if (isKey && this.#isRunDue) this.#beginRun()
    const { pts90k, dts90k, wallMs } = this.#clock
    this.#publish({ kind: 'video', pts90k, dts90k, wallMs, isKey, data, memory })
  }

  get #isRunDue(): boolean {
    return this.#isFormatNew || this.#clock.isRunDue || this.#isSoundNew
  }

  /** Sound has come or stayed away since the run was begun. */
  get #isSoundNew(): boolean {
    return this.audio !== undefined && !this.#held && this.#hasSound !== this.audio.isAlive
  }

  #publish(frame: Frame): void {
    if (!this.#held) this.#give(frame)
    else if (this.#held.add(frame)) this.#tellRun(this.#held)
  }

  #give(frame: Frame): void {
    const { stats, publish } = this.#options
    if (frame.kind === 'audio') stats.audioFrames++
    else {
      stats.videoFrames++
      this.#published++
    }
    publish(frame)
    frame.memory?.release()
  }

  #beginRun(): void {
    // Whatever began and was not told of is told of now, short as it is.
    if (this.#held) this.#tellRun(this.#held)
    const isNewClock = this.#clock.beginRun(this.#order)
    this.audio?.beginRun(isNewClock)
    this.#isFormatNew = false
    const started = new HeldStart(this.#format!)
    const isKnown = !this.audio || this.audio.isAlive || this.#hasSound !== undefined
    if (isKnown) this.#tellRun(started)
    else this.#held = started
  }

  #tellRun({ format: video, frames }: HeldStart): void {
    const { stats, publish, createRunId, onRun } = this.#options
    this.#held = undefined
    this.#hasSound = this.audio?.isAlive ?? false
    stats.runs++
    const format = { video, audio: this.#hasSound ? this.audio?.plan.format : undefined }
    publish({ kind: 'start', runId: createRunId(), format })
    onRun(format)
    for (const frame of frames) this.#give(frame)
  }
}
