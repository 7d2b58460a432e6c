// The newest frames of one camera in memory: one writer (ingest), many readers (live, recorder).
//
// Publishing is synchronous and never waits. A reader is a sink that must return immediately: it keeps what it needs in
// its own queue, bounded in bytes; on overflow it drops, counts, and resumes at a key frame. Why:
// docs/design/back-pressure.md.

import type { ByteBudget } from '../base/byte-budget.ts'
import { type Frame, frameCostBytes } from '../media/frame.ts'
import type { HubItem, RunStart } from './hub-item.ts'

export type HubSink = {
  /** Called once per item, in order. Must not throw and must not wait. */
  push(item: HubItem): void
  /**
   * True if the reader releases the memory of the frames it keeps. For all other readers it is unknown when they are
   * done.
   */
  readonly holdsMemory?: boolean
}

/** Which of the kept frames a new reader gets. */
export type AttachOptions = {
  /**
   * The `group` that the reader already has and must not get again. While it is the newest, the reader waits for the
   * next key frame.
   */
  readonly knownGroup?: number | undefined
  /** Include the groups before the newest, as far as they are kept. */
  readonly withEarlier?: boolean
}

export type CameraHubOptions = {
  /** The newest group of pictures is kept for new readers unless it is larger than this, which is 60 s of 8 Mbit/s. */
  readonly maxGopBytes?: number
  /** Overhead that a frame counts in addition to its data. */
  readonly costBytes?: number
  /** What all cameras of a thread may keep together. */
  readonly gopBudget?: ByteBudget
  /**
   * Budget for the groups before the newest, for readers that need a few seconds to begin. They are kept once the first
   * such reader has joined. Without a budget they are not kept.
   */
  readonly earlierBudget?: ByteBudget
  /** Called when a sink throws, which is a bug; the sink is removed. */
  readonly onSinkError: (error: unknown) => void
}

/**
 * Length of what is kept before the newest group: at least three HLS segments, which consist of groups of at least 1.5
 * s. Nothing is kept for a camera whose groups would exceed `maxEarlierMs`.
 */
const minEarlierMs = 6500
const minEarlierGroups = 3
const maxEarlierMs = 20_000

type Group = { readonly frames: readonly Frame[]; readonly bytes: number }

export class CameraHub {
  readonly #sinks = new Set<HubSink>()
  readonly #maxGopBytes: number
  readonly #costBytes: number
  readonly #gopBudget: ByteBudget | undefined
  readonly #earlierBudget: ByteBudget | undefined
  readonly #onSinkError: (error: unknown) => void
  #start: RunStart | undefined
  #gop: Frame[] = []
  #gopBytes = 0
  #isGopWhole = false
  #group = 0
  /** The groups before the newest one, without holes; oldest first. */
  #earlier: Group[] = []
  /**
   * True once a reader has wanted them. Most cameras are recorded and never watched, and these groups would be most of
   * their memory.
   */
  #isEarlierWanted = false
  #earlierBytes = 0

  constructor(options: CameraHubOptions) {
    const { maxGopBytes = 64 * 1024 * 1024, costBytes = frameCostBytes } = options
    const { gopBudget, earlierBudget, onSinkError } = options
    this.#maxGopBytes = maxGopBytes
    this.#costBytes = costBytes
    this.#gopBudget = gopBudget
    this.#earlierBudget = earlierBudget
    this.#onSinkError = onSinkError
  }

  /** Passes the item to every reader. Never throws; never waits. */
  publish(item: HubItem): void {
    this.#remember(item)
    for (const sink of this.#sinks) this.#give(sink, item)
  }

  /**
   * Adds a reader. It immediately gets the current run and the newest group of pictures (so that a viewer need not wait
   * for the next key frame), then everything that follows. Returns the function that removes it.
   */
  attach(sink: HubSink, { knownGroup, withEarlier = false }: AttachOptions = {}): () => void {
    this.#sinks.add(sink)
    this.#isEarlierWanted ||= withEarlier
    if (this.#start) {
      this.#give(sink, this.#start)
      if (withEarlier) for (const { frames } of this.#earlier) for (const frame of frames) this.#give(sink, frame)
      if (knownGroup !== this.#group) for (const frame of this.#gop) this.#give(sink, frame)
    }
    return () => this.#sinks.delete(sink)
  }

  /** The number of the newest group of pictures; it increases with each key frame. */
  get group(): number {
    return this.#group
  }

  /** The current run; undefined while the camera sends nothing. */
  get run(): RunStart | undefined {
    return this.#start
  }

  stats(): { readers: number; gopBytes: number; earlierBytes: number } {
    return { readers: this.#sinks.size, gopBytes: this.#gopBytes, earlierBytes: this.#earlierBytes }
  }

  #remember(item: HubItem): void {
    if (item.kind === 'start' || item.kind === 'end') {
      this.#start = item.kind === 'start' ? item : undefined
      this.#dropGop()
      this.#dropEarlier(0)
      return
    }
    if (item.kind === 'video' && item.isKey) {
      this.#keepEarlier(item.dts90k)
      this.#isGopWhole = true
      this.#group++
    }
    if (!this.#isGopWhole) return
    const bytes = item.data.length + this.#costBytes
    if (this.#gopBytes + bytes > this.#maxGopBytes || this.#gopBudget?.take(bytes) === false) {
      this.#dropGop()
      return
    }
    item.memory?.hold()
    this.#gop.push(item)
    this.#gopBytes += bytes
  }

  /** The newest group ends at `end90k`, where the next one begins. */
  #keepEarlier(end90k: number): void {
    const frames = this.#gop
    const bytes = this.#gopBytes
    if (!this.#isGopWhole || frames.length === 0 || !this.#takeForEarlier(bytes)) {
      this.#dropGop()
      this.#dropEarlier(0)
      return
    }
    this.#gopBudget?.give(bytes)
    this.#forgetGop()
    this.#earlier.push({ frames, bytes })
    this.#earlierBytes += bytes
    const durationMs = (group: Group) => (end90k - group.frames[0]!.dts90k) / 90
    let kept = this.#earlier.length
    while (kept > 0 && durationMs(this.#earlier.at(-kept)!) > maxEarlierMs) kept--
    while (kept > minEarlierGroups && durationMs(this.#earlier.at(1 - kept)!) >= minEarlierMs) kept--
    this.#dropEarlier(kept)
  }

  /** A camera may hold as much as is left for the others, so that each new camera gets a share. */
  #takeForEarlier(bytes: number): boolean {
    const budget = this.#earlierBudget
    // With JPEG every frame is a group, and none is used in HLS.
    if (!budget || !this.#isEarlierWanted || this.#start?.format.video.codec === 'mjpeg') return false
    while (this.#earlierBytes + 2 * bytes > budget.leftBytes && this.#earlier.length > 0)
      this.#dropEarlier(this.#earlier.length - 1)
    return 2 * bytes <= budget.leftBytes && budget.take(bytes)
  }

  /** Keeps only the newest `kept` of the groups before the newest. */
  #dropEarlier(kept: number): void {
    for (const { frames, bytes } of this.#earlier.splice(0, this.#earlier.length - kept)) {
      this.#earlierBytes -= bytes
      this.#earlierBudget?.give(bytes)
      for (const { memory } of frames) memory?.release()
    }
  }

  #dropGop(): void {
    this.#gopBudget?.give(this.#gopBytes)
    for (const { memory } of this.#gop) memory?.release()
    this.#forgetGop()
  }

  #forgetGop(): void {
    this.#gop = []
    this.#gopBytes = 0
    this.#isGopWhole = false
  }

  #give(sink: HubSink, item: HubItem): void {
    if (!sink.holdsMemory && item.kind !== 'start' && item.kind !== 'end') item.memory?.leave()
    try {
      sink.push(item)
    } catch (error) {
      this.#sinks.delete(sink)
      this.#onSinkError(error)
    }
  }
}
