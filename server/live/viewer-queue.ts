// What one viewer has not taken yet, bounded in bytes. On overflow all of it is dropped and the viewer goes on at the next key
// piece: a live picture that jumps is worth more than one that is late.

import type { LiveChunk } from './live-chunk.ts'
import type { ChunkSink } from './shared-stream.ts'

export type ViewerQueueOptions = {
  /**
   * One piece is always taken, however large; pieces of the backlog are shared by all viewers and do not count, but go when the next
   * key piece comes before they were taken.
   */
  readonly maxBytes: number
  /** Told of every overflow with the number of pieces dropped by it. */
  readonly onDrop: (pieces: number) => void
}

type Entry = { readonly piece: LiveChunk; readonly bytes: number }

export class ViewerQueue implements ChunkSink {
  readonly #options: ViewerQueueOptions
  #entries: Entry[] = []
  #bytes = 0
  /** Pieces in the queue that do not count. */
  #backlog = 0
  #isAtKey = false
  /** It started at the last key piece: what refers to pictures before that is of no use. */
  #skipsLeading = false
  #isEnded = false
  #wake: (() => void) | undefined

  constructor(options: ViewerQueueOptions) {
    this.#options = options
  }

  get bytes(): number {
    return this.#bytes
  }

  push(piece: LiveChunk, isBacklog: boolean): void {
    if (this.#isEnded || (piece.isLeading && this.#skipsLeading)) return
    if (piece.kind === 'end') this.#isEnded = true
    else if (piece.kind === 'gap') this.#isAtKey = false
    else if (piece.kind === 'init' || piece.isKey || this.#isAtKey)
      this.#add(piece, isBacklog || piece.isBacklog ? 0 : piece.data.length)
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

  /** The next piece, `init` or `media`; undefined after the last. One caller at a time. */
  async next(): Promise<LiveChunk | undefined> {
    while (this.#entries.length === 0 && !this.#isEnded) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
    const entry = this.#entries.shift()
    this.#bytes -= entry?.bytes ?? 0
    if (entry && isOfBacklog(entry)) this.#backlog--
    return entry?.piece
  }

  #add(piece: LiveChunk, bytes: number): void {
    const isOver = bytes > 0 && this.#bytes > 0 && this.#bytes + bytes > this.#options.maxBytes
    if (isOver || (this.#backlog > 0 && piece.isKey)) {
      const kept = this.#entries.filter((entry) => entry.piece.kind === 'init')
      this.#options.onDrop(this.#entries.length - kept.length + (piece.isKey ? 0 : 1))
      this.#entries = kept
      this.#bytes = kept.reduce((sum, entry) => sum + entry.bytes, 0)
      this.#backlog = 0
      this.#isAtKey = false
      if (!piece.isKey) return
    }
    if (piece.isKey) {
      this.#skipsLeading = !this.#isAtKey
      this.#isAtKey = true
    }
    const entry = { piece, bytes }
    this.#entries.push(entry)
    this.#bytes += bytes
    if (isOfBacklog(entry)) this.#backlog++
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}

function isOfBacklog({ piece, bytes }: Entry): boolean {
  return piece.kind === 'media' && bytes === 0
}
