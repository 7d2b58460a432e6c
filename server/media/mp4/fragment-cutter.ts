// Cuts a run of frames into files and fragments. A fragment ends at every key frame that is not too close to the
// previous one, and within a long group of pictures. Keeps only the frames of the open fragment. No I/O, no clock.

import { type Frame, frameCostBytes, type StreamFormat } from '../frame.ts'
import type { FrameMemory } from '../frame-memory.ts'
import { createSilence, type Silence, type SilentBlock } from '../telephony/silence.ts'
import { AudioGrid, type PlacedBlock } from './audio-grid.ts'
import type { Sample } from './media-fragment.ts'
import { scaleTicks } from './timescale.ts'

/** A finished fragment with times on the run's axis. */
export type CutFragment = {
  readonly start90k: number
  readonly duration90k: number
  /** Wall-clock time of the first frame, whole Unix milliseconds. */
  readonly startMs: number
  readonly durationMs: number
  readonly isKey: boolean
  /** Whether the next fragment begins with a key frame; true for the last one of a run. */
  readonly isBeforeKey: boolean
  /** Whether some of its frames are damaged. */
  readonly isDamaged: boolean
  readonly video: readonly Sample[]
  /** Position of the first audio sample, in samples since the run's axis began. */
  readonly audioStart: number
  readonly audio: readonly Sample[]
  /** Total size of the frames. */
  readonly bytes: number
  /** The memory of the frames. Each occurrence in the list must be released when the frames are no longer read. */
  readonly memories: readonly FrameMemory[]
}

export type CutterLimits = {
  /** A key frame that is closer than this to the first frame of the fragment does not end it. */
  readonly minFragment90k: number
  /** A longer group of pictures is split. */
  readonly maxFragment90k: number
  readonly maxFragmentBytes: number
}

/** Called in order, synchronously by the methods of the cutter. */
export type CutterTarget = {
  /** Called at every key frame that ends a fragment. Returns whether a new file begins here. */
  wantsNewFile(keyFrame: Frame): boolean
  /** The following fragments belong to a file that begins with this key frame. */
  startFile(keyFrame: Frame): void
  addFragment(fragment: CutFragment): void
}

/** A finished fragment waits this long, in video time, for its audio. */
const audioWait90k = 45_000
/** So many wait at most, because the time of video may hardly advance. */
const maxHeld = 4

/** The maximum length of the silence that is added at one end, in seconds. */
const maxFill = 60

/** The duration of a frame in a run of one frame, which is unknown. */
const defaultDuration90k = 3600

type VideoCut = { readonly frames: readonly Frame[]; readonly startsFile: boolean }
type HeldCut = VideoCut & {
  readonly end90k: number
  readonly endMs: number
  readonly isBeforeKey: boolean
  /** The first frame of the next file, if this is the last fragment of its file. */
  readonly fileStart: Frame | undefined
}
type AudioBlock = PlacedBlock & { readonly frame: Frame }

const costOf = ({ data }: Frame): number => data.length + frameCostBytes

export class FragmentCutter {
  readonly #limits: CutterLimits
  readonly #target: CutterTarget
  /** Decode time of the first video frame of the file. */
  #fileStart90k = 0
  readonly #grid: AudioGrid | undefined
  readonly #audioRate: number
  readonly #silence: Silence | undefined
  /** Whether a fragment with audio was released. */
  #hasBegun = false
  #frames: Frame[] = []
  #startsFile = true
  /** Fragments that wait for their audio, oldest first. */
  readonly #held: HeldCut[] = []
  #blocks: AudioBlock[] = []
  #openBytes = 0
  #lastDuration90k = defaultDuration90k

  constructor(format: StreamFormat, limits: CutterLimits, target: CutterTarget) {
    this.#limits = limits
    this.#target = target
    this.#grid = format.audio && new AudioGrid(format.audio)
    this.#audioRate = format.audio?.sampleRate ?? 0
    this.#silence = format.audio && createSilence(format.audio)
  }

  /** Memory of the frames that are not yet part of a fragment, in bytes. */
  get openBytes(): number {
    return this.#openBytes
  }

  /** The number of video frames that are not yet part of a fragment. */
  get openFrames(): number {
    return this.#held.reduce((sum, { frames }) => sum + frames.length, this.#frames.length)
  }

  /** The number of audio blocks that are not yet part of a fragment. */
  get openBlocks(): number {
    return this.#blocks.length
  }

  /**
   * The first frame must be a key frame. Decode times must increase. `beginsFragment` overrides the limits, except that
   * of the bytes.
   */
  pushVideo(frame: Frame, beginsFragment?: boolean): void {
    const first = this.#frames[0]
    if (!first) this.#target.startFile(frame)
    else {
      const length90k = frame.dts90k - first.dts90k
      const { minFragment90k, maxFragment90k, maxFragmentBytes } = this.#limits
      const isLong = length90k >= maxFragment90k
      // The end of a group that was split is cut however short it is, because players must be able to start at the next
      // group.
      const isGroupEnd = frame.isKey && (length90k >= minFragment90k || !first.isKey)
      if (this.#openBytes >= maxFragmentBytes || (beginsFragment ?? (isLong || isGroupEnd))) this.#cut(frame)
      this.#release(({ end90k }) => frame.dts90k >= end90k + audioWait90k)
    }
    frame.memory?.hold()
    this.#frames.push(frame)
    this.#openBytes += costOf(frame)
  }

  /** Audio before the first video frame is dropped, because a file begins with its key frame. */
  pushAudio(frame: Frame): void {
    if (!this.#grid || this.#frames.length === 0) return
    const place = this.#grid.place(frame.pts90k, frame.data)
    if (!place) return
    this.#blocks.push({ ...place, frame })
    this.#openBytes += costOf(frame)
    this.#release(({ end90k }) => frame.pts90k >= end90k)
  }

  /**
   * Ends the run. The last frame lasts as long as the previous one, but not longer than `longest90k`, and the audio
   * ends with it.
   */
  finish(longest90k = Number.POSITIVE_INFINITY): void {
    const last = this.#frames.at(-1)
    if (!last) {
      this.#release()
      return
    }
    const before = this.#frames.at(-2) ?? this.#held.at(-1)?.frames.at(-1)
    const duration90k = Math.min(before ? last.dts90k - before.dts90k : this.#lastDuration90k, longest90k)
    this.#fillAudio(last.dts90k + duration90k)
    this.#hold(last.dts90k + duration90k, last.wallMs + duration90k / 90, true)
    this.#release()
  }

  /**
   * Fills audio that has not arrived up to the end with silence, because players stop at video without audio or skip
   * it.
   */
  #fillAudio(end90k: number): void {
    const [block] = this.#silence ?? []
    if (!this.#grid || !block) return
    const { data, samples } = block
    const first = this.#held[0]?.frames[0] ?? this.#frames[0]!
    const start = scaleTicks(first.dts90k, this.#audioRate)
    const end = scaleTicks(end90k, this.#audioRate)
    const after = this.#blocks.findIndex(({ position }) => position >= end)
    const outside = after === -1 ? [] : this.#blocks.splice(after)
    for (const { frame } of outside) this.#openBytes -= costOf(frame)
    const last = this.#blocks.at(-1)
    // In a very short file, a block that began before the file may cover its whole length.
    const isBare = (this.#held[0]?.startsFile ?? this.#startsFile) && (last?.position ?? -1) < start
    const begin = isBare ? start : last ? last.position + last.samples : (this.#grid.end ?? start)
    for (let position = begin; position < end && end - begin <= maxFill * this.#audioRate; position += samples) {
      this.#blocks.push(this.#silentBlock({ data, samples }, position, first.wallMs))
    }
  }

  /**
   * Fills the time from the first video frame of a run to its first audio with silence. Cameras send audio earlier than
   * the video of the same time, so that some of it came before the key frame; players stop where only one of the two
   * begins.
   */
  #fillBefore({ dts90k, wallMs }: Frame, end90k: number): void {
    const [block] = this.#silence ?? []
    const [audio] = this.#blocks
    if (!block || !audio || audio.position >= scaleTicks(end90k, this.#audioRate)) return
    this.#hasBegun = true
    const missing = audio.position - scaleTicks(dts90k, this.#audioRate)
    const count = missing <= maxFill * this.#audioRate ? Math.floor(missing / block.samples) : 0
    for (let i = 1; i <= count; i++) {
      this.#blocks.unshift(this.#silentBlock(block, audio.position - i * block.samples, wallMs))
    }
  }

  #silentBlock({ data, samples }: SilentBlock, position: number, wallMs: number): AudioBlock {
    const pts90k = Math.round((position * 90_000) / this.#audioRate)
    const frame: Frame = { kind: 'audio', pts90k, dts90k: pts90k, wallMs, isKey: true, data }
    this.#openBytes += costOf(frame)
    return { position, samples, frame }
  }

  #cut(next: Frame): void {
    const startsFile = next.isKey && this.#target.wantsNewFile(next)
    this.#hold(next.dts90k, next.wallMs, next.isKey, startsFile ? next : undefined)
    this.#startsFile = startsFile
    const audio90k = this.#grid ? (this.#blocks.at(-1)?.frame.pts90k ?? -1) : Number.POSITIVE_INFINITY
    this.#release(({ end90k }) => audio90k >= end90k || this.#held.length > maxHeld)
  }

  #hold(end90k: number, endMs: number, isBeforeKey: boolean, fileStart?: Frame): void {
    this.#held.push({ frames: this.#frames, startsFile: this.#startsFile, end90k, endMs, isBeforeKey, fileStart })
    this.#frames = []
    this.#startsFile = false
  }

  /** Finishes the fragments that wait, up to the first that has to wait on. */
  #release(isReady: (held: HeldCut) => boolean = () => true): void {
    for (let first = this.#held[0]; first && isReady(first); first = this.#held[0]) {
      this.#target.addFragment(this.#build(first))
      this.#held.shift()
      if (first.fileStart) this.#target.startFile(first.fileStart)
    }
  }

  #build({ frames, startsFile, end90k, endMs, isBeforeKey }: HeldCut): CutFragment {
    const first = frames[0]!
    const video: Sample[] = []
    const memories: FrameMemory[] = []
    let bytes = 0
    for (let i = 0; i < frames.length; i++) {
      const { data, dts90k, pts90k, isKey, recovery, isLeading, memory } = frames[i]!
      const duration = Math.max(0, (frames[i + 1]?.dts90k ?? end90k) - dts90k)
      bytes += data.length
      if (memory) memories.push(memory)
      video.push({ data, duration, compositionOffset: pts90k - dts90k, isKey, recovery, isLeading })
    }
    this.#lastDuration90k = video.at(-1)!.duration
    if (startsFile) this.#fileStart90k = first.dts90k
    if (!this.#hasBegun) this.#fillBefore(first, end90k)
    const blocks = this.#takeBlocks(end90k)
    const audio: Sample[] = []
    for (let i = 0; i < blocks.length; i++) {
      const { position, samples, frame } = blocks[i]!
      const duration = (blocks[i + 1]?.position ?? position + samples) - position
      bytes += frame.data.length
      audio.push({ data: frame.data, duration, compositionOffset: 0, isKey: true })
    }
    this.#openBytes -= bytes + (video.length + audio.length) * frameCostBytes
    const startMs = Math.round(first.wallMs)
    return {
      start90k: first.dts90k,
      duration90k: end90k - first.dts90k,
      startMs,
      durationMs: Math.max(0, Math.round(endMs) - startMs),
      isKey: first.isKey,
      isBeforeKey,
      isDamaged: frames.some((frame) => frame.isDamaged === true),
      video,
      audioStart: blocks[0]?.position ?? 0,
      audio,
      bytes,
      memories,
    }
  }

  /**
   * Returns the blocks before `end90k`, without blocks from before the file. Those arrived too late for the previous
   * file, or even for the first fragment of this one.
   */
  #takeBlocks(end90k: number): AudioBlock[] {
    const end = scaleTicks(end90k, this.#audioRate)
    const count = this.#blocks.findIndex(({ position }) => position >= end)
    const taken = this.#blocks.splice(0, count === -1 ? this.#blocks.length : count)
    const start = scaleTicks(this.#fileStart90k, this.#audioRate)
    const late = taken.findIndex(({ position }) => position >= start)
    for (const { frame } of taken.splice(0, late === -1 ? taken.length : late)) this.#openBytes -= costOf(frame)
    return taken
  }
}
