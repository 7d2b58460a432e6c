// The packets of one session -> runs and frames on the hub. Where loss, jumps of the clock and changes of format come together.

import type { HubItem } from '../hub/hub-item.ts'
import { AacDepacketizer } from '../media/aac/depacketizer.ts'
import type { PictureOrder, StreamFormat, VideoFormat } from '../media/frame.ts'
import type { VideoDepacketizer } from '../media/video-depacketizer.ts'
import type { ArrivalClock } from './arrival-clock.ts'
import { AudioClock } from './audio-clock.ts'
import type { CameraStats } from './camera-stats.ts'
import { RtpReceiver } from './rtp-receiver.ts'
import type { AudioPlan, StreamPlan } from './stream-plan.ts'
import { createVideoDepacketizer } from './video-plan.ts'
import { WallClock } from './wall-clock.ts'

export type CameraStreamOptions = {
  readonly plan: StreamPlan
  readonly arrivalClock: ArrivalClock
  readonly stats: CameraStats
  /** Wall clock of the camera's last frame so far, which the next ones do not go behind. */
  readonly floorMs: number
  readonly createRunId: () => string
  publish(item: HubItem): void
  /** A run has begun: after its `start` was published and before its first frame is. */
  onRun(format: StreamFormat): void
}

type AudioTrack = {
  readonly plan: AudioPlan
  readonly receiver: RtpReceiver
  readonly depacketizer: AacDepacketizer
  readonly clock: AudioClock
}

export class CameraStream {
  readonly videoReceiver: RtpReceiver
  readonly audio: AudioTrack | undefined
  readonly #options: CameraStreamOptions
  readonly #depacketizer: VideoDepacketizer
  readonly #clock: WallClock
  #format: VideoFormat | undefined
  #order: PictureOrder | undefined
  #isFormatNew = false
  #audioArrivalMs = 0
  /** When the last marked video packet came: a picture that waits for the next one to end it came then. */
  #markedMs = 0
  #markedTimestamp = Number.NaN
  #isRunning = false
  #published = 0
  #told: { videoTime: number; audioTime: number } | undefined

  constructor(options: CameraStreamOptions) {
    const { plan, stats, floorMs } = options
    this.#options = options
    this.#clock = new WallClock(floorMs)
    this.videoReceiver = new RtpReceiver(plan.video.payloadType, stats)
    const sink = {
      onFormat: (format: VideoFormat, order: PictureOrder) => {
        this.#format = format
        this.#order = order
        this.#isFormatNew = true
      },
      onPicture: (data: Uint8Array, timestamp: number, isKey: boolean) => this.#takePicture(data, timestamp, isKey),
    }
    this.#depacketizer = createVideoDepacketizer(plan.video, sink, () => stats.badPackets++)
    this.audio = plan.audio && this.#createAudio(plan.audio)
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
    this.#told = { videoTime, audioTime }
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

  takeAudioPacket(bytes: Uint8Array, start: number, end: number): void {
    // Before the first run there is no axis to put sound on.
    if (!this.audio?.receiver.take(bytes, start, end)) return
    const { receiver, depacketizer } = this.audio
    if (receiver.isAfterLoss) depacketizer.markLoss()
    this.#audioArrivalMs = this.#options.arrivalClock.nowMs()
    depacketizer.push(bytes, receiver.header.payloadStart, receiver.header.payloadEnd, receiver.timestamp)
  }

  /** Brings the counters kept in the depacketizers and the clock into the camera's; once, at the end or whenever read. */
  collectStats(): void {
    const { stats } = this.#options
    const { droppedFrames, badPayloads } = this.#depacketizer.counters
    const audioBad = this.audio?.depacketizer.counters.badPayloads ?? 0
    stats.droppedFrames += droppedFrames
    stats.badPackets += badPayloads + audioBad
    stats.reorderedFrames += this.#clock.reorderedFrames
    stats.clockJumps += this.#clock.jumps
    Object.assign(this.#depacketizer.counters, { droppedFrames: 0, badPayloads: 0 })
    if (this.audio) this.audio.depacketizer.counters.badPayloads = 0
    this.#clock.reorderedFrames = 0
    this.#clock.jumps = 0
  }

  #createAudio(plan: AudioPlan): AudioTrack {
    const { stats, publish } = this.#options
    const clock = new AudioClock(this.#clock)
    const blockMs = (plan.samplesPerBlock * 1000) / plan.format.sampleRate
    const depacketizer = new AacDepacketizer(plan.headerSizes, (data, timestamp, index) => {
      if (!this.#isRunning) return
      this.#alignOnce()
      if (!clock.map((timestamp * 1000) / plan.clockRate + index * blockMs, this.#audioArrivalMs)) return
      stats.audioFrames++
      const { pts90k, wallMs } = clock
      publish({ kind: 'audio', pts90k, dts90k: pts90k, wallMs, isKey: true, data })
    })
    return { plan, receiver: new RtpReceiver(plan.payloadType, stats), depacketizer, clock }
  }

  #alignOnce(): void {
    if (!this.#told || !this.audio) return
    const { receiver, clock, plan } = this.audio
    const audioMs = (receiver.toContinuous(this.#told.audioTime) * 1000) / plan.clockRate
    clock.alignTo(audioMs, this.videoReceiver.toContinuous(this.#told.videoTime) / 90)
    this.#told = undefined
  }

  #takePicture(data: Uint8Array, timestamp: number, isKey: boolean): void {
    const { stats, publish, arrivalClock } = this.#options
    this.#clock.map(timestamp, timestamp === this.#markedTimestamp ? this.#markedMs : arrivalClock.nowMs())
    if (isKey && (this.#isFormatNew || this.#clock.isRunDue)) this.#beginRun()
    stats.videoFrames++
    this.#published++
    const { pts90k, dts90k, wallMs } = this.#clock
    publish({ kind: 'video', pts90k, dts90k, wallMs, isKey, data })
  }

  #beginRun(): void {
    const { stats, publish, createRunId, onRun } = this.#options
    const isNewClock = this.#clock.beginRun(this.#order)
    if (this.#isRunning) {
      // What PLAY told of the timestamps held until the clock jumped.
      if (isNewClock) this.#told = undefined
      this.audio?.clock.beginRun(isNewClock)
    }
    this.#isRunning = true
    this.#isFormatNew = false
    stats.runs++
    const format = { video: this.#format!, audio: this.audio?.plan.format }
    publish({ kind: 'start', runId: createRunId(), format })
    onRun(format)
  }
}
