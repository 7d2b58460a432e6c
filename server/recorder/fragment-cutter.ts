// Cuts a run of frames into files and fragments: at every key frame, but not twice in a moment, and between them when a group of
// pictures grows long.
// Keeps only the frames of the open fragment. No I/O, no clock.

import type { Frame, StreamFormat } from '../media/frame.ts'
import type { FrameMemory } from '../media/frame-memory.ts'
import type { Sample } from '../media/mp4/media-fragment.ts'
import { scaleTicks } from '../media/mp4/timescale.ts'
import { AudioGrid, type PlacedBlock } from './audio-grid.ts'

/** A finished fragment, times on the run's axis. */
export type CutFragment = {
  readonly start90k: number
  readonly duration90k: number
  /** Wall clock of the first frame, Unix milliseconds, whole. */
  readonly startMs: number
  readonly durationMs: number
  readonly isKey: boolean
  readonly video: readonly Sample[]
  /** Position of the first audio sample, in samples since the run's axis began. */
  readonly audioStart: number
  readonly audio: readonly Sample[]
  /** Sum of the frames. */
  readonly bytes: number
  /** What the frames lie in, held as often as it is listed: to be released when they are not read any more. */
  readonly memories: readonly FrameMemory[]
}

export type CutterLimits = {
  /** A key frame sooner than this after the fragment's first frame does not end it. */
  readonly minFragment90k: number
  /** A group of pictures that lasts longer is split. */
  readonly maxFragment90k: number
  readonly maxFragmentBytes: number
}

/** Called in order, from within the cutter's own methods. */
export type CutterTarget = {
  /** Asked at every key frame but the first that ends a fragment: shall a file begin here? */
  wantsNewFile(keyFrame: Frame): boolean
  /** The fragments from now on belong to a file that begins with this key frame. */
  startFile(keyFrame: Frame): void
  addFragment(fragment: CutFragment): void
}

/** A finished fragment waits this long, in video time, for audio that belongs to it. */
const audioWait90k = 45_000

/** Of a run of one frame: nobody knows, so the usual. */
const defaultDuration90k = 3600

type VideoCut = { readonly frames: readonly Frame[]; readonly startsFile: boolean }
type HeldCut = VideoCut & { readonly end90k: number; readonly endMs: number }
type AudioBlock = PlacedBlock & { readonly frame: Frame }

export class FragmentCutter {
  readonly #limits: CutterLimits
  readonly #target: CutterTarget
  readonly #grid: AudioGrid | undefined
  readonly #audioRate: number
  #frames: Frame[] = []
  #startsFile = true
  #held: HeldCut | undefined
  /** The first frame of the next file, while the last fragment of the one before is held. */
  #fileStart: Frame | undefined
  #blocks: AudioBlock[] = []
  #openBytes = 0
  #lastDuration90k = defaultDuration90k

  constructor(format: StreamFormat, limits: CutterLimits, target: CutterTarget) {
    this.#limits = limits
    this.#target = target
    this.#grid = format.audio && new AudioGrid(format.audio)
    this.#audioRate = format.audio?.sampleRate ?? 0
  }

  /** Bytes of frames that are in no fragment yet. */
  get openBytes(): number {
    return this.#openBytes
  }

  /** Pictures that are in no fragment yet. */
  get openFrames(): number {
    return this.#frames.length + (this.#held?.frames.length ?? 0)
  }

  /** The first frame must be a key frame. Decode times increase. */
  pushVideo(frame: Frame): void {
    const first = this.#frames[0]
    if (!first) this.#target.startFile(frame)
    else {
      const length90k = frame.dts90k - first.dts90k
      const { minFragment90k, maxFragment90k, maxFragmentBytes } = this.#limits
      const isLong = length90k >= maxFragment90k || this.#openBytes >= maxFragmentBytes
      // The end of a group that was split is cut off however short: the group after it must be a place to start.
      const isGroupEnd = frame.isKey && (length90k >= minFragment90k || !first.isKey)
      if (isLong || isGroupEnd) this.#cut(frame)
      else if (this.#held && frame.dts90k >= this.#held.end90k + audioWait90k) this.#release()
    }
    frame.memory?.hold()
    this.#frames.push(frame)
    this.#openBytes += frame.data.length
  }

  /** Audio before the first picture is dropped: a file begins with its key frame. */
  pushAudio(frame: Frame): void {
    if (!this.#grid || this.#frames.length === 0) return
    const place = this.#grid.place(frame.pts90k, frame.data)
    if (!place) return
    this.#blocks.push({ ...place, frame })
    this.#openBytes += frame.data.length
    if (this.#held && frame.pts90k >= this.#held.end90k) this.#release()
  }

  /** Ends the run: the last frame lasts as long as the one before it. */
  finish(): void {
    this.#release()
    const last = this.#frames.at(-1)
    if (!last) return
    const before = this.#frames.at(-2)
    const duration90k = before ? last.dts90k - before.dts90k : this.#lastDuration90k
    this.#hold(last.dts90k + duration90k, last.wallMs + duration90k / 90)
    this.#release()
  }

  #cut(next: Frame): void {
    this.#release()
    this.#hold(next.dts90k, next.wallMs)
    this.#startsFile = next.isKey && this.#target.wantsNewFile(next)
    this.#fileStart = this.#startsFile ? next : undefined
    if (!this.#grid || (this.#blocks.at(-1)?.frame.pts90k ?? -1) >= next.dts90k) this.#release()
  }

  #hold(end90k: number, endMs: number): void {
    this.#held = { frames: this.#frames, startsFile: this.#startsFile, end90k, endMs }
    this.#frames = []
    this.#startsFile = false
  }

  #release(): void {
    if (!this.#held) return
    this.#target.addFragment(this.#build(this.#held))
    this.#held = undefined
    if (this.#fileStart) this.#target.startFile(this.#fileStart)
    this.#fileStart = undefined
  }

  #build({ frames, startsFile, end90k, endMs }: HeldCut): CutFragment {
    const first = frames[0]!
    const video: Sample[] = []
    const memories: FrameMemory[] = []
    let bytes = 0
    for (let i = 0; i < frames.length; i++) {
      const { data, dts90k, pts90k, isKey, memory } = frames[i]!
      const duration = Math.max(0, (frames[i + 1]?.dts90k ?? end90k) - dts90k)
      bytes += data.length
      if (memory) memories.push(memory)
      video.push({ data, duration, compositionOffset: pts90k - dts90k, isKey })
    }
    this.#lastDuration90k = video.at(-1)!.duration
    const blocks = this.#takeBlocks(startsFile ? first.dts90k : undefined, end90k)
    const audio: Sample[] = []
    for (let i = 0; i < blocks.length; i++) {
      const { position, samples, frame } = blocks[i]!
      const duration = (blocks[i + 1]?.position ?? position + samples) - position
      bytes += frame.data.length
      audio.push({ data: frame.data, duration, compositionOffset: 0, isKey: true })
    }
    this.#openBytes -= bytes
    const startMs = Math.round(first.wallMs)
    return {
      start90k: first.dts90k,
      duration90k: end90k - first.dts90k,
      startMs,
      durationMs: Math.max(0, Math.round(endMs) - startMs),
      isKey: first.isKey,
      video,
      audioStart: blocks[0]?.position ?? 0,
      audio,
      bytes,
      memories,
    }
  }

  /** The blocks before `end90k`, without those before `fileStart90k`, which came too late for the file they belong to. */
  #takeBlocks(fileStart90k: number | undefined, end90k: number): AudioBlock[] {
    const end = scaleTicks(end90k, this.#audioRate)
    const count = this.#blocks.findIndex(({ position }) => position >= end)
    const taken = this.#blocks.splice(0, count === -1 ? this.#blocks.length : count)
    if (fileStart90k === undefined) return taken
    const start = scaleTicks(fileStart90k, this.#audioRate)
    const late = taken.findIndex(({ position }) => position >= start)
    for (const { frame } of taken.splice(0, late === -1 ? taken.length : late)) this.#openBytes -= frame.data.length
    return taken
  }
}
