// What one viewer has not taken yet, bounded in bytes. On overflow all of it is dropped and the viewer goes on at the next key
// chunk: a live picture that jumps is worth more than one that is late.

import type { LiveChunk } from './live-chunk.ts'
import type { ChunkSink } from './shared-stream.ts'

export type ViewerQueueOptions = {
  /**
   * One chunk is always taken, however large; chunks of the backlog are shared by all viewers and do not count, but go when the next
   * key chunk comes before they were taken.
   */
  readonly maxBytes: number
  /** Told of every overflow with the number of chunks dropped by it. */
  readonly onDrop: (chunks: number) => void
}

type Entry = { readonly chunk: LiveChunk; readonly bytes: number }

export class ViewerQueue implements ChunkSink {
  readonly #options: ViewerQueueOptions
  #entries: Entry[] = []
  #bytes = 0
  /** Chunks in the queue that do not count. */
  #backlog = 0
  #isAtKey = false
  /** It started at the last key chunk: what refers to pictures before that is of no use. */
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

  /** Nothing more comes; what is in the queue is dropped. */
  abort(): void {
    this.#isEnded = true
    this.#entries = []
    this.#bytes = 0
    this.#backlog = 0
    this.#wakeUp()
  }

  /** The next chunk, `init` or `media`; undefined after the last. One caller at a time. */
  async next(): Promise<LiveChunk | undefined> {
    while (this.#entries.length === 0 && !this.#isEnded) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
    const entry = this.#entries.shift()
    this.#bytes -= entry?.bytes ?? 0
    if (entry && isOfBacklog(entry)) this.#backlog--
    return entry?.chunk
  }

  #add(chunk: LiveChunk, bytes: number): void {
    const isOver = bytes > 0 && this.#bytes > 0 && this.#bytes + bytes > this.#options.maxBytes
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
    const entry = { chunk, bytes }
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
