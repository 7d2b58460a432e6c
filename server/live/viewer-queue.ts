// The chunks that one viewer has not read yet, bounded in bytes and in time. When the queue overflows, all of it is
// dropped and the viewer continues at the next key chunk, because live video that jumps is better than live video that
// lags.

import type { Clock } from '../base/clock.ts'
import type { LiveChunk } from './live-chunk.ts'
import type { ChunkSink } from './shared-stream.ts'

export type ViewerQueueOptions = {
  /**
   * One chunk is always accepted, whatever its size. Backlog chunks are shared by all viewers and do not count, but
   * they are dropped if the next key chunk arrives before they are read.
   */
  readonly maxBytes: number
  /** How long a chunk may wait. Unlimited by default: a player that has a buffer of its own reads unevenly. */
  readonly maxWaitMs?: number | undefined
  readonly clock: Clock
  /** Called at every overflow with the number of chunks that were dropped. */
  readonly onDrop: (chunks: number) => void
}

type Entry = { readonly chunk: LiveChunk; readonly bytes: number; readonly sinceMs: number }

export class ViewerQueue implements ChunkSink {
  readonly #options: ViewerQueueOptions
  #entries: Entry[] = []
  #bytes = 0
  /** Number of queued backlog chunks, which do not count towards the limit. */
  #backlog = 0
  #isAtKey = false
  /** When the last backlog chunk was read. What came meanwhile could not be read earlier. */
  #backlogReadMs = Number.NEGATIVE_INFINITY
  /** The viewer started at the last key chunk, so it cannot decode frames that refer to earlier ones. */
  #skipsLeading = false
  #isEnded = false
  #wake: (() => void) | undefined

  constructor(options: ViewerQueueOptions) {
    this.#options = options
  }

  get bytes(): number {
    return this.#bytes
  }

  push(chunk: LiveChunk, isBacklog: boolean): void {
    if (this.#isEnded || (chunk.isLeading && this.#skipsLeading)) return
    if (chunk.kind === 'end') this.#isEnded = true
    else if (chunk.kind === 'gap') this.#isAtKey = false
    else if (chunk.kind === 'init' || chunk.isKey || this.#isAtKey)
      this.#add(chunk, isBacklog || chunk.isBacklog ? 0 : chunk.data.length)
    this.#wakeUp()
  }

  /** Ends the queue and drops what is in it. */
  abort(): void {
    this.#isEnded = true
    this.#entries = []
    this.#bytes = 0
    this.#backlog = 0
    this.#wakeUp()
  }

  /** Returns the next `init` or `media` chunk, or undefined after the last. Only one call may be pending. */
  async next(): Promise<LiveChunk | undefined> {
    while (this.#entries.length === 0 && !this.#isEnded) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
    const entry = this.#entries.shift()
    this.#bytes -= entry?.bytes ?? 0
    if (entry && isOfBacklog(entry)) {
      this.#backlog--
      this.#backlogReadMs = this.#options.clock.monotonicMs()
    }
    return entry?.chunk
  }

  #add(chunk: LiveChunk, bytes: number): void {
    const { maxBytes, maxWaitMs = Number.POSITIVE_INFINITY, clock } = this.#options
    const nowMs = clock.monotonicMs()
    const oldest = this.#entries[0]
    const isLate = oldest && this.#backlog === 0 && nowMs - Math.max(oldest.sinceMs, this.#backlogReadMs) > maxWaitMs
    const isOver = isLate || (bytes > 0 && this.#bytes > 0 && this.#bytes + bytes > maxBytes)
    if (isOver || (this.#backlog > 0 && chunk.isKey)) {
      const kept = this.#entries.filter((entry) => entry.chunk.kind === 'init')
      this.#options.onDrop(this.#entries.length - kept.length + (chunk.isKey ? 0 : 1))
      this.#entries = kept
      this.#bytes = kept.reduce((sum, entry) => sum + entry.bytes, 0)
      this.#backlog = 0
      this.#isAtKey = false
      if (!chunk.isKey) return
    }
    if (chunk.isKey) {
      this.#skipsLeading = !this.#isAtKey
      this.#isAtKey = true
    }
    const entry = { chunk, bytes, sinceMs: nowMs }
    this.#entries.push(entry)
    this.#bytes += bytes
    if (isOfBacklog(entry)) this.#backlog++
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}

function isOfBacklog({ chunk, bytes }: Entry): boolean {
  return chunk.kind === 'media' && bytes === 0
}
