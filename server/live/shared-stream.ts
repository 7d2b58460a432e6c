// One subscription to one camera and format, shared by all its viewers. It is opened for the first viewer and closed a
// while after the last one has left.
//
// The chunks since the last key chunk are kept, so that a viewer who joins later starts at once instead of at the next
// key frame.

import type { ByteBudget } from '../base/byte-budget.ts'
import type { Clock } from '../base/clock.ts'
import { Timer } from '../base/timer.ts'
import type { LiveChunk } from './live-chunk.ts'
import { type LiveSubscription, receiveChunks } from './live-subscriber.ts'

export type ChunkSink = {
  /** Called in order. Must not block or throw. `isBacklog`: the chunk was kept from before the viewer joined. */
  push(chunk: LiveChunk, isBacklog: boolean): void
}

export type SharedStreamOptions = {
  readonly subscribe: (onChunk: (chunk: LiveChunk) => void, minIntervalMs: number) => LiveSubscription
  readonly clock: Clock
  /** How long the subscription stays open after its last viewer has left, so that a reloaded page can reuse it. */
  readonly lingerMs: number
  /** The maximum number of bytes to keep since the last key chunk. */
  readonly maxRetainedBytes: number
  /** The limit for all streams together. */
  readonly budget: ByteBudget
}

export class SharedStream {
  readonly #options: SharedStreamOptions
  readonly #sinks = new Set<ChunkSink>()
  #unsubscribe: (() => void) | undefined
  #minIntervalMs = 0
  readonly #linger: Timer
  #init: LiveChunk | undefined
  #retained: LiveChunk[] = []
  #retainedBytes = 0
  #isRetaining = false

  constructor(options: SharedStreamOptions) {
    this.#options = options
    this.#linger = new Timer(options.clock)
  }

  /** Adds a viewer, sends it the kept chunks, and returns a function that removes it. */
  join(sink: ChunkSink): () => void {
    this.#linger.stop()
    this.#sinks.add(sink)
    if (this.#init) sink.push(this.#init, true)
    for (const chunk of this.#retained) sink.push(chunk, true)
    if (!this.#unsubscribe) this.#open()
    return () => {
      if (this.#sinks.delete(sink) && this.#sinks.size === 0)
        this.#linger.start(this.#options.lingerMs, () => this.close())
    }
  }

  /**
   * Requests more frequent key frames if the current interval is longer. The interval never increases during a
   * subscription.
   */
  lowerInterval(minIntervalMs: number): void {
    if (this.#unsubscribe && minIntervalMs >= this.#minIntervalMs) return
    this.#minIntervalMs = minIntervalMs
    if (!this.#unsubscribe) return
    this.#unsubscribe()
    this.#open()
  }

  close(): void {
    this.#linger.stop()
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#forget()
  }

  get isOpen(): boolean {
    return this.#unsubscribe !== undefined
  }

  get retainedBytes(): number {
    return this.#retainedBytes
  }

  #open(): void {
    const { subscribe } = this.#options
    const minIntervalMs = this.#minIntervalMs
    this.#unsubscribe = receiveChunks(
      (onChunk) => subscribe(onChunk, minIntervalMs),
      (chunk) => this.#receive(chunk),
    )
  }

  #receive(chunk: LiveChunk): void {
    this.#retain(chunk)
    for (const sink of this.#sinks) sink.push(chunk, false)
  }

  #retain(chunk: LiveChunk): void {
    switch (chunk.kind) {
      case 'init':
        this.#forget()
        this.#init = chunk
        return
      case 'end':
        this.#forget()
        return
      case 'gap':
        this.#dropRetained()
        return
      case 'media':
        if (chunk.isKey) {
          this.#dropRetained()
          this.#isRetaining = true
        }
        if (this.#isRetaining) this.#retainMedia(chunk)
    }
  }

  #retainMedia(chunk: LiveChunk): void {
    const { maxRetainedBytes, budget } = this.#options
    const bytes = chunk.data.length
    if (this.#retainedBytes + bytes > maxRetainedBytes || !budget.take(bytes)) {
      this.#dropRetained()
      return
    }
    this.#retained.push(chunk)
    this.#retainedBytes += bytes
  }

  #forget(): void {
    this.#init = undefined
    this.#dropRetained()
  }

  #dropRetained(): void {
    this.#options.budget.give(this.#retainedBytes)
    this.#retained = []
    this.#retainedBytes = 0
    this.#isRetaining = false
  }
}
