// The audio of one session: packets in, blocks with their times on the axis of the video's run out.

import { AacDepacketizer } from '../../media/aac/depacketizer.ts'
import type { Frame } from '../../media/frame.ts'
import { opusPacketSamples } from '../../media/opus/opus-packet.ts'
import { AudioChunker } from '../../media/telephony/audio-chunker.ts'
import type { AudioSink, AudioSource, AudioTranscoder } from '../../media/telephony/audio-transcoder.ts'
import type { ArrivalClock } from '../clock/arrival-clock.ts'
import { AudioClock } from '../clock/audio-clock.ts'
import type { WallClock } from '../clock/wall-clock.ts'
import type { AudioPlan } from '../plan/audio-plan.ts'
import type { CameraStats } from './camera-stats.ts'
import { RtpReceiver } from './rtp-receiver.ts'

export type AudioTrackOptions = {
  readonly plan: AudioPlan
  readonly stats: CameraStats
  readonly arrivalClock: ArrivalClock
  /** Of the video: audio is put on its axis. */
  readonly videoClock: WallClock
  /** A raw video timestamp of RTP-Info, in media milliseconds. */
  readonly toVideoMs: (timestamp: number) => number
  /** For telephone audio; without, there is none. */
  readonly transcoder?: AudioTranscoder | undefined
  onBlock(frame: Frame): void
}

/** Takes payloads of one coding apart; counts what it can't read. */
type Reader = {
  readonly counters: { badPayloads: number }
  markLoss(): void
  push(bytes: Uint8Array, start: number, end: number, timestamp: number): void
  /** A run begins: what comes next does not continue what came. */
  restart?(): void
}

/** What a block that comes back from the transcoder is published with, and in which run. */
type BlockTime = { readonly pts90k: number; readonly wallMs: number; readonly run: number }

export class AudioTrack {
  readonly plan: AudioPlan
  readonly receiver: RtpReceiver
  readonly #options: AudioTrackOptions
  readonly #clock: AudioClock
  readonly #reader: Reader
  #transcoded: AudioSink<BlockTime> | undefined
  /** Counts the runs; 0 before the first. */
  #run = 0
  /** When the packet being read came. */
  #arrivalMs = 0
  #told: { videoTime: number; audioTime: number } | undefined

  constructor(options: AudioTrackOptions) {
    this.plan = options.plan
    this.#options = options
    this.receiver = new RtpReceiver(options.plan.payloadType, options.stats)
    this.#clock = new AudioClock(options.videoClock)
    this.#alignOneClock()
    this.#reader = this.#createReader(options.plan)
  }

  /** RTP-Info of the answer to PLAY: raw timestamps of one and the same moment. */
  align(videoTime: number, audioTime: number): void {
    this.#told = { videoTime, audioTime }
  }

  /** Sender reports of both streams: raw timestamps of one and the same moment. */
  follow(videoTime: number, audioTime: number): void {
    const audioMs = (this.receiver.toContinuous(audioTime) * 1000) / this.plan.clockRate
    this.#clock.follow(audioMs, this.#options.toVideoMs(videoTime))
  }

  /**
   * Blocks come from now on, on the axis of this run. `isNewClock`: what is known of the camera's timestamps no longer
   * holds.
   */
  beginRun(isNewClock: boolean): void {
    if (this.#run > 0) {
      // What PLAY told of the timestamps held until the clock jumped.
      if (isNewClock) this.#told = undefined
      this.#reader.restart?.()
      this.#clock.beginRun(isNewClock)
      if (isNewClock) this.#alignOneClock()
    }
    this.#run++
  }

  /** The session is over. */
  close(): void {
    this.#transcoded?.close()
  }

  takePacket(bytes: Uint8Array, start: number, end: number): void {
    const { receiver } = this
    if (!receiver.take(bytes, start, end)) return
    if (receiver.isAfterLoss) this.#reader.markLoss()
    this.takePayload(bytes, receiver.header.payloadStart, receiver.header.payloadEnd, receiver.timestamp)
  }

  /** `timestamp`: by the clock of the plan, continuous. */
  takePayload(bytes: Uint8Array, start: number, end: number, timestamp: number): void {
    this.#arrivalMs = this.#options.arrivalClock.nowMs()
    this.#reader.push(bytes, start, end, timestamp)
  }

  /** Payloads that could not be read since the last call. */
  takeBadPayloads(): number {
    const { badPayloads } = this.#reader.counters
    this.#reader.counters.badPayloads = 0
    return badPayloads
  }

  #createReader({ coding, format, clockRate }: AudioPlan): Reader {
    if (coding.kind === 'block') return this.#createBlockReader(({ length }) => length > 0)
    // RFC 7587: a payload is a packet.
    if (coding.kind === 'opus') return this.#createBlockReader((data) => opusPacketSamples(data) > 0)
    if (coding.kind === 'telephone') return this.#createTelephoneReader(coding.source)
    const blockMs = (coding.samplesPerBlock * 1000) / format.sampleRate
    return new AacDepacketizer(coding.headerSizes, (data, timestamp, index) =>
      this.#takeBlock(data, (timestamp * 1000) / clockRate + index * blockMs),
    )
  }

  #createBlockReader(isBlock: (data: Uint8Array) => boolean): Reader {
    const counters = { badPayloads: 0 }
    return {
      counters,
      markLoss() {},
      push: (bytes, start, end, timestamp) => {
        const data = bytes.slice(start, end)
        if (isBlock(data)) this.#takeBlock(data, (timestamp * 1000) / this.plan.clockRate)
        else counters.badPayloads++
      },
    }
  }

  /** RFC 3551 4.5: a payload is so many samples. They go away to be encoded, and come back a little later. */
  #createTelephoneReader(source: AudioSource): Reader {
    const { transcoder } = this.#options
    this.#transcoded = transcoder?.open<BlockTime>(source, (data, { pts90k, wallMs, run }) => {
      if (run === this.#run) this.#publish(data, pts90k, wallMs)
    })
    const chunker = new AudioChunker(source, (chunk, pts90k) =>
      this.#transcoded?.push(chunk, { pts90k, wallMs: this.#clock.wallMs, run: this.#run }),
    )
    return {
      counters: { badPayloads: 0 },
      markLoss() {},
      push: (bytes, start, end, timestamp) => {
        const isTaken = transcoder?.isAvailable && end > start
        if (!isTaken || !this.#place((timestamp * 1000) / this.plan.clockRate)) return
        chunker.push(bytes, start, end, this.#clock.pts90k)
      },
      restart: () => chunker.restart(),
    }
  }

  #takeBlock(data: Uint8Array, mediaMs: number): void {
    if (this.#place(mediaMs)) this.#publish(data, this.#clock.pts90k, this.#clock.wallMs)
  }

  /** Sets the clock to a block. False when it has no place on the axis of a run. */
  #place(mediaMs: number): boolean {
    if (this.#run === 0) return false
    this.#alignOnce()
    // As if the camera reported at every block that both clocks are one.
    if (this.plan.isOneClock) this.#clock.follow(0, 0)
    return this.#clock.map(mediaMs, this.#arrivalMs)
  }

  #publish(data: Uint8Array, pts90k: number, wallMs: number): void {
    this.#options.onBlock({ kind: 'audio', pts90k, dts90k: pts90k, wallMs, isKey: true, data })
  }

  #alignOneClock(): void {
    if (this.plan.isOneClock) this.#clock.alignTo(0, 0)
  }

  #alignOnce(): void {
    if (!this.#told) return
    const audioMs = (this.receiver.toContinuous(this.#told.audioTime) * 1000) / this.plan.clockRate
    this.#clock.alignTo(audioMs, this.#options.toVideoMs(this.#told.videoTime))
    this.#told = undefined
  }
}
