// A stream drawn and encoded while it is sent, once for all its clients, and only while there is one.

import type { Clock } from '../../../server/base/clock.ts'
import type { SdpMedia } from '../../../server/media/sdp/sdp.ts'
import { packetizeAac } from '../../support/media/aac/packetizer.ts'
import { Lens } from '../encode/lens.ts'
import { Microphone } from '../encode/microphone.ts'
import { describeAudio, describeVideo } from './describe-tracks.ts'
import { audioPayloadType, type MediaSource, videoPayloadType } from './media-source.ts'
import { Outlet, type OutletStats, type Player } from './outlet.ts'
import { packetizePicture } from './packetize-picture.ts'
import { RtpTrack } from './rtp-track.ts'
import type { ResolvedStream } from './stream-options.ts'

/**
 * A camera that fell further behind, because the machine is busy, goes on with the present. Before that it takes the
 * pictures later, since a hole looks like a fault of the server.
 */
const maxLateMs = 5000
/** A picture has the time when it was due: where that is looked at, it may not be taken much later. */
const maxLateTrueMs = 200

export class LiveSource implements MediaSource {
  readonly name: string
  readonly outlet: Outlet
  readonly #options: ResolvedStream
  readonly #clock: Clock
  readonly #microphone: Microphone | undefined
  /** Where stream time 0 lies on the monotonic clock. */
  readonly #originMs: number
  #lens: Lens
  #nextLens: Lens | undefined
  #frameNumber = 0
  #jumpMs = 0
  #isMuted = false
  /** So many times fewer pictures come than the timestamps say. */
  #slowness = 1
  #lagSeconds = 0
  #running: Promise<void> | undefined
  #isClosed = false
  /** Why it stopped by itself: told when it is closed. */
  #failure: unknown

  private constructor(options: ResolvedStream, clock: Clock, lens: Lens, microphone: Microphone | undefined) {
    this.name = options.name
    this.#options = options
    this.#clock = clock
    this.#lens = lens
    this.#microphone = microphone
    this.#originMs = clock.monotonicMs()
    const video = new RtpTrack({ clockRate: 90_000, payloadType: videoPayloadType, channel: 0 })
    const audio =
      microphone && new RtpTrack({ clockRate: microphone.sampleRate, payloadType: audioPayloadType, channel: 2 })
    this.outlet = new Outlet(audio ? [video, audio] : [video], options.keepsGroup)
  }

  static async open(options: ResolvedStream, clock: Clock): Promise<LiveSource> {
    const lens = await openLens(options, options.width, options.height)
    return new LiveSource(options, clock, lens, options.hasAudio ? await Microphone.open(options.audio) : undefined)
  }

  describe(): SdpMedia[] {
    const video = describeVideo(this.#options.codec, (this.#nextLens ?? this.#lens).parameterSets)
    return this.#microphone ? [video, describeAudio(this.#options.audio, this.#microphone)] : [video]
  }

  attach(player: Player): void {
    this.outlet.attach(player)
    this.#running ??= this.#run()
  }

  detach(player: Player): void {
    this.outlet.detach(player)
  }

  jumpClock(ms: number): void {
    this.#jumpMs += ms
    this.outlet.expectReport()
  }

  muteAudio(isMuted: boolean): void {
    this.#isMuted = isMuted
  }

  slowDown(factor: number): void {
    this.#slowness = factor
  }

  async changeResolution(): Promise<void> {
    const { width, height } = this.#options
    const isFull = (this.#nextLens ?? this.#lens).width === width
    const lens = await openLens(this.#options, isFull ? smaller(width) : width, isFull ? smaller(height) : height)
    this.#nextLens?.[Symbol.dispose]()
    this.#nextLens = lens
  }

  changeCodec(): Promise<void> {
    return Promise.reject(new Error('a live stream keeps its codec'))
  }

  stats(): OutletStats {
    return this.outlet.stats()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running
    this.#lens[Symbol.dispose]()
    this.#nextLens?.[Symbol.dispose]()
    this.#microphone?.[Symbol.dispose]()
    if (this.#failure) throw this.#failure
  }

  async #run(): Promise<void> {
    const periodMs = 1000 / this.#options.framesPerSecond
    const mostMs = this.#options.stampsTrueTime ? maxLateTrueMs : maxLateMs
    let dueMs = this.#clock.monotonicMs()
    this.#microphone?.restart((dueMs - this.#originMs) / 1000)
    try {
      while (!this.#isClosed && (this.outlet.playerCount > 0 || this.#options.keepsGroup)) {
        this.#sendPicture(dueMs)
        dueMs += periodMs * this.#slowness
        this.#lagSeconds += ((this.#slowness - 1) * periodMs) / 1000
        const restMs = dueMs - this.#clock.monotonicMs()
        if (restMs > 0) await this.#clock.sleep(restMs)
        // Pictures it never took are not missing.
        else if (restMs < -mostMs) dueMs = this.#clock.monotonicMs()
      }
    } catch (error) {
      this.#failure = error
    } finally {
      this.#running = undefined
    }
  }

  #sendPicture(dueMs: number): void {
    const isNewLens = this.#nextLens !== undefined
    if (this.#nextLens) {
      this.#lens[Symbol.dispose]()
      this.#lens = this.#nextLens
      this.#nextLens = undefined
    }
    const seconds = (dueMs - this.#originMs) / 1000
    const lateMs = this.#clock.monotonicMs() - dueMs
    const takenMs = this.#clock.nowMs() - lateMs
    const unixMs = takenMs + this.#jumpMs
    const rtpSeconds = seconds + this.#jumpMs / 1000 - this.#lagSeconds
    const { joinsAnywhere, keepsGroup } = this.#options
    const isForced = isNewLens || (!joinsAnywhere && !keepsGroup && this.outlet.isAwaited)
    const taken = { unixMs: takenMs, frameNumber: this.#frameNumber++ }
    const stamp = this.#options.stampsTrueTime ? taken : { ...taken, unixMs }
    const picture = this.#lens.capture(stamp, isForced)
    if (!picture) throw new Error('expected an encoder without delay in a live stream')
    const { isKey, units } = picture
    if (isKey || joinsAnywhere || keepsGroup) this.outlet.begin(rtpSeconds, isKey)
    this.outlet.report(this.#clock.monotonicMs(), unixMs, rtpSeconds)
    const video = this.outlet.tracks[0]!
    const bytes = video.writePackets(packetizePicture(this.#options.codec, units), video.timestampAt(rtpSeconds))
    this.outlet.deliver({ track: 0, bytes, isStart: isKey, isPicture: true, taken })
    this.#sendAudio(seconds, unixMs)
  }

  #sendAudio(seconds: number, unixMs: number): void {
    const track = this.outlet.tracks[1]
    if (!this.#microphone || !track) return
    for (const block of this.#microphone.record(seconds, unixMs)) {
      if (this.#isMuted) continue
      const timestamp = track.timestampAt(block.seconds + this.#jumpMs / 1000)
      const payload = this.#options.audio === 'aac' ? packetizeAac([block.data]) : block.data
      const bytes = track.writePackets([payload], timestamp)
      this.outlet.deliver({ track: 1, bytes, isStart: true, isPicture: false })
    }
  }
}

function openLens(options: ResolvedStream, width: number, height: number): Promise<Lens> {
  return Lens.open({ ...options, width, height, rate: 'limit' })
}

function smaller(size: number): number {
  return Math.round(size / 3) * 2
}
