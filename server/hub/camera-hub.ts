// The newest frames of one camera, in memory: one writer (ingest), many readers (live, recorder).
//
// Publishing is synchronous and never waits. A reader is a sink that must return at once: it keeps what it needs in a queue of
// its own, bounded in bytes, and on overflow drops, counts, and resumes at a key frame. Why: docs/design/back-pressure.md.

import type { Frame } from '../media/frame.ts'
import type { ByteBudget } from './byte-budget.ts'
import type { HubItem, RunStart } from './hub-item.ts'

export type HubSink = {
  /** Called once per item, in order. Must not throw and must not wait. */
  push(item: HubItem): void
  /** It holds the memory of the frames it keeps, and releases it. Of all others, nobody knows when they are done. */
  readonly holdsMemory?: boolean
}

export type CameraHubOptions = {
  /** The newest group of pictures is kept for readers that join; one larger than this is not kept: 60 s of 8 Mbit/s are. */
  readonly maxGopBytes?: number
  /** What all cameras of a thread may keep together. */
  readonly gopBudget?: ByteBudget
  /** Told when a sink throws: a bug of ours, and that sink is detached. */
  readonly onSinkError: (error: unknown) => void
}

export class CameraHub {
  readonly #sinks = new Set<HubSink>()
  readonly #maxGopBytes: number
  readonly #gopBudget: ByteBudget | undefined
  readonly #onSinkError: (error: unknown) => void
  #start: RunStart | undefined
  #gop: Frame[] = []
  #gopBytes = 0
  #isGopWhole = false
  #group = 0

  constructor({ maxGopBytes = 64 * 1024 * 1024, gopBudget, onSinkError }: CameraHubOptions) {
    this.#maxGopBytes = maxGopBytes
    this.#gopBudget = gopBudget
    this.#onSinkError = onSinkError
  }

  /** Gives the item to every reader. Never throws; never waits. */
  publish(item: HubItem): void {
    this.#remember(item)
    for (const sink of this.#sinks) this.#give(sink, item)
  }

  /**
   * Adds a reader. It is given the current run and the newest group of pictures at once (so that a viewer need not wait for
   * the next key frame), then everything that follows. `knownGroup`: the `group` that the reader has had already and must not get
   * again; while that is the newest, it waits for the next key frame. Returns the function that removes it.
   */
  attach(sink: HubSink, knownGroup?: number): () => void {
    this.#sinks.add(sink)
    if (this.#start) {
      this.#give(sink, this.#start)
      if (knownGroup !== this.#group) for (const frame of this.#gop) this.#give(sink, frame)
    }
    return () => this.#sinks.delete(sink)
  }

  /** The number of the newest group of pictures; grows with each key frame. */
  get group(): number {
    return this.#group
  }

  /** The run in progress, or undefined while the camera sends nothing. */
  get run(): RunStart | undefined {
    return this.#start
  }

  stats(): { readers: number; gopBytes: number } {
    return { readers: this.#sinks.size, gopBytes: this.#gopBytes }
  }

  #remember(item: HubItem): void {
    if (item.kind === 'start' || item.kind === 'end') {
      this.#start = item.kind === 'start' ? item : undefined
      this.#dropGop()
      return
    }
    if (item.kind === 'video' && item.isKey) {
      this.#dropGop()
      this.#isGopWhole = true
      this.#group++
    }
    if (!this.#isGopWhole) return
    const bytes = item.data.length
    if (this.#gopBytes + bytes > this.#maxGopBytes || this.#gopBudget?.take(bytes) === false) {
      this.#dropGop()
      return
    }
    item.memory?.hold()
    this.#gop.push(item)
    this.#gopBytes += bytes
  }

  #dropGop(): void {
    this.#gopBudget?.give(this.#gopBytes)
    for (const { memory } of this.#gop) memory?.release()
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
