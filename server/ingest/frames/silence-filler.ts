// Keeps the audio track of a run complete: where no blocks arrive, it inserts silent ones, some time behind the video.
// A camera whose audio is late, missing or interrupted therefore always has the same tracks, and readers of the hub
// need no special case. It uses no clock.

import type { AudioFormat, Frame } from '../../media/frame.ts'
import { createBlockLength } from '../../media/telephony/audio-block.ts'
import type { Silence, SilentBlock } from '../../media/telephony/silence.ts'

/**
 * Silence stays this far behind the video: less than the recorder waits for audio, and more than the usual delay of
 * audio.
 */
export const silenceLag90k = 27_000

/** For a camera whose audio is later than that, silence waits this much longer than the audio, up to the maximum. */
const lateMargin90k = 9000
export const maxSilenceLag90k = 2.5 * 90_000

/** An increased lag shrinks by this share of the duration of the audio. */
const lagDecay = 0.01

/** The imprecision of cameras' audio timestamps. A smaller step between two blocks is not a hole. */
const tolerance90k = 90_000 / 16

/** The track follows blocks that arrive faster or slower than their duration by up to this share. */
const maxDrift = 0.01

/** The beginning of a longer hole is left empty. */
const maxHole90k = 60 * 90_000

export class SilenceFiller {
  readonly #silence: Silence
  readonly #onBlock: (frame: Frame, isSilence: boolean) => void
  readonly #samplesOf: (data: Uint8Array) => number
  readonly #ticksPerSample: number
  /** The length of the longest silent block. */
  readonly #length90k: number
  #lag90k = silenceLag90k
  /** Decode time of the first video frame of the run; undefined before it. */
  #start90k: number | undefined
  #video90k = 0
  #videoMs = 0
  #videoLength90k = 0
  /** Where the track currently ends, with a fraction; undefined before its first block. */
  #end90k: number | undefined
  #last90k = 0
  #isSilent = true
  #wallMs = 0

  /** `onBlock` receives the track of each run with strictly increasing times. */
  constructor(format: AudioFormat, silence: Silence, onBlock: (frame: Frame, isSilence: boolean) => void) {
    this.#silence = silence
    this.#onBlock = onBlock
    this.#samplesOf = createBlockLength(format)
    this.#ticksPerSample = 90_000 / format.sampleRate
    this.#length90k = silence[0].samples * this.#ticksPerSample
  }

  /** Begins a run. Must be called after `endRun` of the previous run and before the first video frame of this one. */
  beginRun(): void {
    this.#start90k = undefined
    this.#end90k = undefined
    this.#last90k = Number.NEGATIVE_INFINITY
    this.#isSilent = true
    // The wall clock never goes back within a run, but it may between two runs if the server's clock is set back.
    this.#wallMs = 0
    this.#videoLength90k = 3600
  }

  /** Must be called before a video frame is published. Inserts silence where audio is too late. */
  takeVideo(dts90k: number, wallMs: number): void {
    if (this.#start90k === undefined) this.#start90k = dts90k
    // A pause says nothing about the duration of the last frame of a run.
    else this.#videoLength90k = Math.min(dts90k - this.#video90k, 2 * this.#videoLength90k)
    this.#video90k = dts90k
    this.#videoMs = wallMs
    this.#fill(dts90k - this.#lag90k)
  }

  /**
   * Takes a block of the camera. It is published, preceded by silence if blocks are missing, or dropped if the track is
   * already filled at its time.
   */
  takeBlock(frame: Frame): void {
    if (this.#start90k === undefined || frame.pts90k < this.#start90k) return
    this.#noteLateness(frame.pts90k)
    const length90k = this.#samplesOf(frame.data) * this.#ticksPerSample
    // A whole number of blocks fits between the beginning and the first block.
    this.#end90k ??= this.#start90k + ((frame.pts90k - this.#start90k) % length90k)
    const end90k = this.#end90k
    const error90k = frame.pts90k - end90k
    if (error90k <= -(this.#isSilent ? length90k / 2 : Math.max(length90k, tolerance90k))) return
    const isHole = error90k >= (this.#isSilent ? length90k / 2 : Math.max(length90k / 2, tolerance90k))
    const missing90k = isHole ? Math.round(error90k / length90k) * length90k : 0
    if (missing90k > 0) this.#publishSilence(end90k, end90k + missing90k, this.#silence)
    // After silence, the track continues from the block. Otherwise it follows slow drift, and a faster drift leads to a
    // hole or a superfluous block.
    const limit90k = this.#isSilent ? length90k : maxDrift * length90k
    this.#isSilent = false
    const drift90k = Math.max(-limit90k, Math.min(limit90k, error90k - missing90k))
    this.#end90k = end90k + missing90k + length90k + drift90k
    this.#publish(frame.pts90k, length90k, frame, false)
  }

  /** Ends the run. Its audio ends with its last video frame, which lasts as long as the one before. */
  endRun(): void {
    if (this.#start90k === undefined) return
    this.#fill(this.#video90k + this.#videoLength90k + this.#length90k - 1)
    this.#start90k = undefined
  }

  /** Publishes as many whole blocks of silence as fit before `until90k`. */
  #fill(until90k: number): void {
    const from90k = this.#end90k ?? this.#start90k!
    if (until90k - from90k < this.#length90k) return
    this.#isSilent = true
    this.#end90k = this.#publishSilence(from90k, until90k, [this.#silence[0]])
  }

  /** Returns the end of the published silence. */
  #publishSilence(from90k: number, until90k: number, blocks: readonly SilentBlock[]): number {
    const hole90k = until90k - from90k
    let at90k = hole90k > maxHole90k ? until90k - (hole90k % this.#length90k) : from90k
    for (;;) {
      // Times have fractions, so a block that is too long by less than a tick fits.
      const block = blocks.find(({ samples }) => at90k + samples * this.#ticksPerSample < until90k + 1)
      if (!block) return at90k
      const length90k = block.samples * this.#ticksPerSample
      const wallMs = this.#videoMs + (at90k - this.#video90k) / 90
      this.#publish(at90k, length90k, { data: block.data, wallMs }, true)
      at90k += length90k
    }
  }

  /** Audio that is always late would never be heard, so silence waits longer for it. */
  #noteLateness(pts90k: number): void {
    const lag90k = this.#video90k - pts90k + lateMargin90k
    if (lag90k > this.#lag90k && lag90k <= maxSilenceLag90k) this.#lag90k = lag90k
  }

  /**
   * Publishes a block no earlier than the middle of the previous one, because overlapping blocks are not heard and
   * players report errors.
   */
  #publish(at90k: number, length90k: number, block: Pick<Frame, 'data' | 'wallMs'>, isSilence: boolean): void {
    const pts90k = Math.round(Math.max(at90k, this.#last90k + length90k / 2))
    this.#lag90k = Math.max(silenceLag90k, this.#lag90k - lagDecay * length90k)
    this.#last90k = pts90k
    this.#wallMs = Math.max(this.#wallMs, Math.round(block.wallMs))
    const frame = { pts90k, dts90k: pts90k, wallMs: this.#wallMs, data: block.data }
    this.#onBlock({ kind: 'audio', isKey: true, ...frame }, isSilence)
  }
}
