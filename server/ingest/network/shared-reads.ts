// What the connections of a thread share when they read: the buffer, and a rest between one look at all of them and the
// next.
//
// A thread of many cameras is woken for every frame of each, and waking costs more than what the frame needs. With
// rests it finds frames of many cameras when it looks, and takes them in one go: several of each while they are only
// recorded. Figures: docs/design/ingest.md.

import { createRest } from '../../base/thread-rest.ts'
import type { Standstill } from './standstill.ts'

/** A frame of most cameras comes in one read. */
const bufferBytes = 64 * 1024

export type SharedReadsOptions = {
  /**
   * From one look to the next, at least, while there is something to read; 0 for no rests. Whatever else the thread
   * does waits as long.
   */
  readonly restMs?: number
  /** The same while nobody attends. Default: `restMs` */
  readonly longRestMs?: number
  /** Asked before every rest: false while something must not wait. */
  readonly mayRest?: () => boolean
  /** Default: blocks the thread, and nobody wakes it. */
  readonly rest?: (ms: number) => void
  /** Watches the thread; without, it never stands still. */
  readonly standstill?: Standstill
}

export class SharedReads {
  /** What was read, until the callback of the read returns. */
  readonly buffer = new Uint8Array(bufferBytes)
  readonly #restMs: number
  readonly #longRestMs: number
  readonly #mayRest: () => boolean
  readonly #rest: (ms: number) => void
  readonly #standstill: Standstill | undefined
  #holders = 0
  #attendants = 0
  #isDue = false
  #lookedMs = Number.NEGATIVE_INFINITY

  constructor(options: SharedReadsOptions = {}) {
    const { restMs = 0, longRestMs = restMs, mayRest = () => true, rest = createRest(), standstill } = options
    this.#restMs = restMs
    this.#longRestMs = longRestMs
    this.#mayRest = mayRest
    this.#rest = rest
    this.#standstill = standstill
  }

  /** To be called at every read. */
  note(): void {
    if (this.#isDue || this.#restMs === 0) return
    this.#isDue = true
    // After everything that is there to be read.
    setImmediate(this.#restUntilDue)
  }

  /** Milliseconds since the thread last stood still: what is read soon after has waited for it. */
  sinceStandstillMs(): number {
    return this.#standstill?.sinceMs() ?? Number.POSITIVE_INFINITY
  }

  /** No rests until the returned function is called: for what the system keeps too little of, such as datagrams. */
  hold(): () => void {
    this.#holders++
    return once(() => this.#holders--)
  }

  /** Somebody waits for what is read, so rests are short until the returned function is called. */
  attend(): () => void {
    this.#attendants++
    return once(() => this.#attendants--)
  }

  readonly #restUntilDue = (): void => {
    this.#isDue = false
    const restMs = this.#attendants > 0 ? this.#restMs : this.#longRestMs
    const leftMs = restMs - (performance.now() - this.#lookedMs)
    if (leftMs > 0 && this.#holders === 0 && this.#mayRest()) this.#rest(leftMs)
    this.#lookedMs = performance.now()
  }
}

function once(action: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) action()
    isDone = true
  }
}
