// The audio of one session: takes packets and publishes blocks with their times on the axis of the video's run.

import { AacDepacketizer } from '../../media/aac/depacketizer.ts'
import { LatmDepacketizer } from '../../media/aac/latm.ts'
import type { Frame } from '../../media/frame.ts'
import { opusPacketSamples } from '../../media/opus/opus-packet.ts'
import { AudioChunker } from '../../media/telephony/audio-chunker.ts'
import type { AudioSink, AudioSource, AudioTranscoder } from '../../media/telephony/audio-transcoder.ts'
import { AudioClock } from '../clock/audio-clock.ts'
import type { WallClock } from '../clock/wall-clock.ts'
import type { AudioPlan } from '../plan/audio-plan.ts'
import type { CameraStats } from './camera-stats.ts'
import { RtpReceiver } from './rtp-receiver.ts'

export type AudioTrackOptions = {
  readonly plan: AudioPlan
  readonly stats: CameraStats
  /** The clock of the video, whose axis the audio uses. */
  readonly videoClock: WallClock
  /** Converts a raw video timestamp of RTP-Info or of a sender report to media milliseconds. */
  readonly toVideoMs: (timestamp: number) => number
  /** Transcodes telephone audio. Without it, such audio is dropped. */
  readonly transcoder?: AudioTranscoder | undefined
  onBlock(frame: Frame): void
}

/** Depacketizes one coding. Counts the payloads that it cannot read. */
type Reader = {
  readonly counters: { badPayloads: number }
  markLoss(): void
  push(bytes: Uint8Array, start: number, end: number, timestamp: number): void
  /** Begins a run: the next payload does not continue the previous one. */
  restart?(): void
}

/** The times and the run with which a block from the transcoder is published. */
type BlockTime = { readonly pts90k: number; readonly wallMs: number; readonly run: number }

export class AudioTrack {
  readonly plan: AudioPlan
  readonly receiver: RtpReceiver
  readonly #options: AudioTrackOptions
  readonly #clock: AudioClock
  readonly #reader: Reader
  #transcoded: AudioSink<BlockTime> | undefined
  /** The number of runs so far; 0 before the first. */
  #run = 0
  /** Time of arrival of the packet that is being read. */
  #arrivalMs = 0
  #rtpInfo: { videoTime: number; audioTime: number } | undefined

  constructor(options: AudioTrackOptions) {
    this.plan = options.plan
    this.#options = options
    this.receiver = new RtpReceiver(options.plan.payloadType, options.stats)
    this.#clock = new AudioClock(options.videoClock)
    this.#alignOneClock()
    this.#reader = this.#createReader(options.plan)
  }

  /** Takes the RTP-Info of the response to PLAY: raw timestamps of the same moment. */
  align(videoTime: number, audioTime: number): void {
    this.#rtpInfo = { videoTime, audioTime }
  }

  /** Takes sender reports of both streams: raw timestamps of the same moment. */
  follow(videoTime: number, audioTime: number): void {
    const audioMs = (this.receiver.toContinuous(audioTime) * 1000) / this.plan.clockRate
    this.#clock.follow(audioMs, this.#options.toVideoMs(videoTime))
  }

  /**
   * Publishes blocks on the axis of this run from now on. `isNewClock`: earlier information about the camera's
   * timestamps is no longer valid.
   */
  beginRun(isNewClock: boolean): void {
    if (this.#run > 0) {
      // The RTP-Info of the response to PLAY is valid only until the clock jumps.
      if (isNewClock) this.#rtpInfo = undefined
      this.#reader.restart?.()
      this.#clock.beginRun(isNewClock)
      if (isNewClock) this.#alignOneClock()
    }
    this.#run++
  }

  /** Closes the transcoder at the end of the session. */
  close(): void {
    this.#transcoded?.close()
  }

  /** `arrivalMs`: by the arrival clock. */
  takePacket(bytes: Uint8Array, start: number, end: number, arrivalMs: number): void {
    const { receiver } = this
    if (!receiver.take(bytes, start, end)) {
      for (const packet of receiver.takeHeld()) this.takePacket(packet, 0, packet.length, arrivalMs)
      return
    }
    if (receiver.isAfterLoss) this.#reader.markLoss()
    this.takePayload(bytes, receiver.header.payloadStart, receiver.header.payloadEnd, receiver.timestamp, arrivalMs)
  }

  /** `timestamp`: continuous, in units of the plan's clock rate. */
  takePayload(bytes: Uint8Array, start: number, end: number, timestamp: number, arrivalMs: number): void {
    this.#arrivalMs = arrivalMs
    this.#reader.push(bytes, start, end, timestamp)
  }

  /** Returns the number of unreadable payloads since the last call. */
  takeBadPayloads(): number {
    const { badPayloads } = this.#reader.counters
    this.#reader.counters.badPayloads = 0
    return badPayloads
  }

  #createReader({ coding, format, clockRate }: AudioPlan): Reader {
    if (coding.kind === 'block') return this.#createBlockReader(({ length }) => length > 0)
    // RFC 7587: a payload is one packet.
    if (coding.kind === 'opus') return this.#createBlockReader((data) => opusPacketSamples(data) > 0)
    if (coding.kind === 'telephone') return this.#createTelephoneReader(coding.source)
    const blockMs = (coding.samplesPerBlock * 1000) / format.sampleRate
    const takeBlock = (data: Uint8Array, timestamp: number, index: number) =>
      this.#takeBlock(data, (timestamp * 1000) / clockRate + index * blockMs)
    if (coding.kind === 'latm') return new LatmDepacketizer(coding.mux, takeBlock)
    return new AacDepacketizer(coding.headerSizes, takeBlock, (deviation) =>
      this.#options.stats.deviations.add(deviation),
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

  /** RFC 3551 4.5: a payload is a number of samples. They are encoded asynchronously and come back a little later. */
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

  /** Sets the clock to the time of a block. Returns false if it has no position on the axis of a run. */
  #place(mediaMs: number): boolean {
    if (this.#run === 0) return false
    this.#alignOnce()
    // Equivalent to a sender report at every block which says that both clocks are the same.
    if (this.plan.sharesVideoClock) this.#clock.follow(0, 0)
    return this.#clock.map(mediaMs, this.#arrivalMs)
  }

  #publish(data: Uint8Array, pts90k: number, wallMs: number): void {
    this.#options.onBlock({ kind: 'audio', pts90k, dts90k: pts90k, wallMs, isKey: true, data })
  }

  #alignOneClock(): void {
    if (this.plan.sharesVideoClock) this.#clock.alignTo(0, 0)
  }

  #alignOnce(): void {
    if (!this.#rtpInfo) return
    const audioMs = (this.receiver.toContinuous(this.#rtpInfo.audioTime) * 1000) / this.plan.clockRate
    this.#clock.alignTo(audioMs, this.#options.toVideoMs(this.#rtpInfo.videoTime))
    this.#rtpInfo = undefined
  }
}
