// A stream that repeats a clip for ever, with timestamps, sequence numbers and frame counter running on; cheap enough
// to have a hundred of. It never leaves a frame out: one that is late is sent late.

import type { Clock } from '../../../server/base/clock.ts'
import type { VideoCodec } from '../../../server/media/frame.ts'
import type { SdpMedia } from '../../../server/media/sdp/sdp.ts'
import { patchFrameCounter } from '../frame-counter.ts'
import { describeVideo } from './describe-tracks.ts'
import type { LoopClip } from './loop-clip.ts'
import { type MediaSource, videoPayloadType } from './media-source.ts'
import { Outlet, type OutletStats, type Player } from './outlet.ts'
import type { Paced, Pacer } from './pacer.ts'
import { RtpTrack } from './rtp-track.ts'
import type { ResolvedStream } from './stream-options.ts'

export type ClipVariant = { readonly codec: VideoCodec; readonly isSmall: boolean }

export type LoopSourceOptions = {
  readonly stream: ResolvedStream
  readonly clip: LoopClip
  /** The clip in the stream's other size, or its other codec. */
  openClip(variant: ClipVariant): Promise<LoopClip>
  /** Which of many: places its key frames apart from the others'. */
  readonly index: number
  readonly clock: Clock
  readonly pacer: Pacer
}

export class LoopSource implements MediaSource, Paced {
  readonly name: string
  readonly outlet: Outlet
  readonly #options: LoopSourceOptions
  readonly #periodMs: number
  #clip: LoopClip
  #variant: ClipVariant
  #frameNumber = 0
  #place = 0
  /** At this place of the clip the first group of pictures is cut short, once. */
  #cutPlace = 0
  #dueMs = 0
  #jumpMs = 0
  #spare = new Uint8Array(0)

  constructor(options: LoopSourceOptions) {
    this.name = options.stream.name
    this.#options = options
    this.#clip = options.clip
    this.#variant = { codec: options.stream.codec, isSmall: false }
    this.#periodMs = 1000 / options.stream.framesPerSecond
    this.outlet = new Outlet([new RtpTrack({ clockRate: 90_000, payloadType: videoPayloadType, channel: 0 })])
  }

  describe(): SdpMedia[] {
    return [describeVideo(this.#variant.codec, this.#clip.parameterSets)]
  }

  attach(player: Player): void {
    this.outlet.attach(player)
    if (this.outlet.playerCount > 1) return
    const { index, stream, clock, pacer } = this.#options
    this.#place = 0
    // A group whose pictures refer to the next one can't be cut.
    this.#cutPlace = stream.bFrames > 0 ? 0 : (index * 7) % stream.gopFrames
    this.#dueMs = clock.monotonicMs() + ((index % 8) * this.#periodMs) / 8
    pacer.add(this)
  }

  detach(player: Player): void {
    this.outlet.detach(player)
    if (this.outlet.playerCount === 0) this.#options.pacer.remove(this)
  }

  jumpClock(ms: number): void {
    this.#jumpMs += ms
    this.outlet.expectReport()
  }

  /** Loops have no audio. */
  muteAudio(): void {}

  /** Loops keep their pace. */
  slowDown(): void {}

  async changeResolution(): Promise<void> {
    await this.#change({ ...this.#variant, isSmall: !this.#variant.isSmall })
  }

  async changeCodec(): Promise<void> {
    await this.#change({ ...this.#variant, codec: this.#variant.codec === 'h264' ? 'h265' : 'h264' })
  }

  async #change(variant: ClipVariant): Promise<void> {
    this.#clip = await this.#options.openClip(variant)
    this.#variant = variant
    this.#place = 0
  }

  stats(): OutletStats {
    return this.outlet.stats()
  }

  async close(): Promise<void> {
    this.#options.pacer.remove(this)
  }

  sendDue(monotonicMs: number, unixMs: number): void {
    while (this.#dueMs <= monotonicMs) {
      this.#sendFrame(unixMs - (monotonicMs - this.#dueMs) + this.#jumpMs)
      this.#dueMs += this.#periodMs
    }
  }

  #sendFrame(unixMs: number): void {
    if (this.#cutPlace > 0 && this.#place === this.#cutPlace) {
      this.#cutPlace = 0
      this.#place = this.#options.stream.gopFrames
    }
    const frame = this.#clip.frames[this.#place++ % this.#clip.frames.length]!
    const seconds = (this.#frameNumber * this.#periodMs + this.#jumpMs) / 1000
    this.outlet.begin(seconds, true)
    this.outlet.report(this.#dueMs, unixMs, seconds)
    const track = this.outlet.tracks[0]!
    if (this.#spare.length < frame.bytes.length) this.#spare = new Uint8Array(frame.bytes.length)
    const bytes = this.#spare.subarray(0, frame.bytes.length)
    bytes.set(frame.bytes)
    track.renumberPackets(bytes, frame.starts, track.timestampAt(seconds + (frame.delay * this.#periodMs) / 1000))
    const frameNumber = this.#frameNumber++
    if (frame.counterAt >= 0) patchFrameCounter(bytes, frame.counterAt, { frameNumber, unixMs })
    const isFree = this.outlet.deliver({ track: 0, bytes, isStart: frame.isKey, isPicture: true })
    if (!isFree) this.#spare = new Uint8Array(0)
  }
}
