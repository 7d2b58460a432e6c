// Keeps the audio track of a run whole: where no blocks come, silent ones take their place, some time behind the
// pictures. So a camera whose audio is late, away or interrupted has the same tracks all the time, and readers of the
// hub need no special case. No clock.

import type { AudioFormat, Frame } from '../../media/frame.ts'
import { createBlockLength } from '../../media/telephony/audio-block.ts'
import type { Silence, SilentBlock } from '../../media/telephony/silence.ts'

/**
 * Silence stays this far behind the pictures: less than the recorder waits for audio, more than audio usually takes.
 */
export const silenceLag90k = 27_000

/**
 * For a camera whose audio comes later than that, silence waits this much longer than the audio, but not beyond the
 * maximum.
 */
const lateMargin90k = 9000
export const maxSilenceLag90k = 2.5 * 90_000

/** The share of the audio that passes by which a longer lag shrinks again. */
const lagDecay = 0.01

/** Cameras stamp their blocks this imprecisely: a smaller step between two blocks is no hole. */
const tolerance90k = 90_000 / 16

/** The track follows blocks that come faster or slower than they last by this share. */
const maxDrift = 0.01

/** The beginning of a longer hole is left open. */
const maxHole90k = 60 * 90_000

export class SilenceFiller {
  readonly #silence: Silence
  readonly #onBlock: (frame: Frame, isSilence: boolean) => void
  readonly #samplesOf: (data: Uint8Array) => number
  readonly #ticksPerSample: number
  /** Length of the longest silent block. */
  readonly #length90k: number
  #lag90k = silenceLag90k
  /** Of the run: decode time of the first picture; undefined before it. */
  #start90k: number | undefined
  #picture90k = 0
  #pictureMs = 0
  #pictureLength90k = 0
  /** Where the track ends so far, not whole; undefined before its first block. */
  #end90k: number | undefined
  #last90k = 0
  #isSilent = true
  #wallMs = 0

  /** `onBlock` gets the track of each run, its times in strictly increasing order. */
  constructor(format: AudioFormat, silence: Silence, onBlock: (frame: Frame, isSilence: boolean) => void) {
    this.#silence = silence
    this.#onBlock = onBlock
    this.#samplesOf = createBlockLength(format)
    this.#ticksPerSample = 90_000 / format.sampleRate
    this.#length90k = silence[0].samples * this.#ticksPerSample
  }

  /** To be called after `endRun` for the run before; what comes next is the run's first picture. */
  beginRun(): void {
    this.#start90k = undefined
    this.#end90k = undefined
    this.#last90k = Number.NEGATIVE_INFINITY
    this.#isSilent = true
    // The wall clock never goes back within a run, but it does between two runs when the server's clock is set back.
    this.#wallMs = 0
    this.#pictureLength90k = 3600
  }

  /** To be called before the picture is published: fills what audio is too late for by now. */
  takePicture(dts90k: number, wallMs: number): void {
    if (this.#start90k === undefined) this.#start90k = dts90k
    // A pause says nothing about how long the last picture of a run is shown.
    else this.#pictureLength90k = Math.min(dts90k - this.#picture90k, 2 * this.#pictureLength90k)
    this.#picture90k = dts90k
    this.#pictureMs = wallMs
    this.#fill(dts90k - this.#lag90k)
  }

  /**
   * A block of the camera: published, with silence before it if blocks are missing, or dropped when the track is filled
   * there.
   */
  takeBlock(frame: Frame): void {
    if (this.#start90k === undefined || frame.pts90k < this.#start90k) return
    this.#noteLateness(frame.pts90k)
    const length90k = this.#samplesOf(frame.data) * this.#ticksPerSample
    // Whole blocks reach from the beginning to the first one.
    this.#end90k ??= this.#start90k + ((frame.pts90k - this.#start90k) % length90k)
    const end90k = this.#end90k
    const error90k = frame.pts90k - end90k
    if (error90k <= -(this.#isSilent ? length90k / 2 : Math.max(length90k, tolerance90k))) return
    const isHole = error90k >= (this.#isSilent ? length90k / 2 : Math.max(length90k / 2, tolerance90k))
    const missing90k = isHole ? Math.round(error90k / length90k) * length90k : 0
    if (missing90k > 0) this.#publishSilence(end90k, end90k + missing90k, this.#silence)
    // After silence the track goes on from the block; then slow drift is followed, and more of it ends in a hole or a
    // block too much.
    const limit90k = this.#isSilent ? length90k : maxDrift * length90k
    this.#isSilent = false
    const drift90k = Math.max(-limit90k, Math.min(limit90k, error90k - missing90k))
    this.#end90k = end90k + missing90k + length90k + drift90k
    this.#publish(frame.pts90k, length90k, frame, false)
  }

  /** The run is over: its audio ends with its last picture, which lasts as long as the one before. */
  endRun(): void {
    if (this.#start90k === undefined) return
    this.#fill(this.#picture90k + this.#pictureLength90k + this.#length90k - 1)
    this.#start90k = undefined
  }

  /** Publishes as many whole blocks of silence as fit before `until90k`. */
  #fill(until90k: number): void {
    const from90k = this.#end90k ?? this.#start90k!
    if (until90k - from90k < this.#length90k) return
    this.#isSilent = true
    this.#end90k = this.#publishSilence(from90k, until90k, [this.#silence[0]])
  }

  /** Returns where it ends. */
  #publishSilence(from90k: number, until90k: number, blocks: readonly SilentBlock[]): number {
    const hole90k = until90k - from90k
    let at90k = hole90k > maxHole90k ? until90k - (hole90k % this.#length90k) : from90k
    for (;;) {
      // Times are not whole: what is missing by less than a tick fits.
      const block = blocks.find(({ samples }) => at90k + samples * this.#ticksPerSample < until90k + 1)
      if (!block) return at90k
      const length90k = block.samples * this.#ticksPerSample
      const wallMs = this.#pictureMs + (at90k - this.#picture90k) / 90
      this.#publish(at90k, length90k, { data: block.data, wallMs }, true)
      at90k += length90k
    }
  }

  /** Audio that always comes too late would never be heard, so silence waits longer for it. */
  #noteLateness(pts90k: number): void {
    const lag90k = this.#picture90k - pts90k + lateMargin90k
    if (lag90k > this.#lag90k && lag90k <= maxSilenceLag90k) this.#lag90k = lag90k
  }

  /** Not before the middle of the block before it: blocks on top of each other are not heard, and players complain. */
  #publish(at90k: number, length90k: number, block: Pick<Frame, 'data' | 'wallMs'>, isSilence: boolean): void {
    const pts90k = Math.round(Math.max(at90k, this.#last90k + length90k / 2))
    this.#lag90k = Math.max(silenceLag90k, this.#lag90k - lagDecay * length90k)
    this.#last90k = pts90k
    this.#wallMs = Math.max(this.#wallMs, Math.round(block.wallMs))
    const frame = { pts90k, dts90k: pts90k, wallMs: this.#wallMs, data: block.data }
    this.#onBlock({ kind: 'audio', isKey: true, ...frame }, isSilence)
  }
}
