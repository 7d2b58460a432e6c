// What the connections of a thread share for reading: the buffer, and a rest between two reads of all connections.
//
// A thread with many cameras wakes up for every frame of each, and waking up costs more than processing the frame.
// After a rest, the thread reads the frames of many cameras at once, or several frames of each if the cameras are only
// recorded. For measurements, see docs/design/ingest.md.

import { createRest } from '../../base/thread-rest.ts'
import type { Standstill } from './standstill.ts'

/** Large enough for one frame of most cameras. */
const bufferBytes = 64 * 1024

export type SharedReadsOptions = {
  /**
   * The shortest time between two reads while data arrives; 0 disables rests. All other work of the thread waits as
   * well.
   */
  readonly restMs?: number
  /** Replaces `restMs` while no caller of `attend` is active. Default: `restMs` */
  readonly longRestMs?: number
  /** Called before every rest. Returns false while something must not wait. */
  readonly mayRest?: () => boolean
  /** Default: blocks the thread for the whole time. */
  readonly rest?: (ms: number) => void
  /** Detects standstills of the thread. Without it, none are detected. */
  readonly standstill?: Standstill
}

export class SharedReads {
  /** Holds the data of a read until the read's callback returns. */
  readonly buffer = new Uint8Array(bufferBytes)
  readonly #restMs: number
  readonly #longRestMs: number
  readonly #mayRest: () => boolean
  readonly #rest: (ms: number) => void
  readonly #standstill: Standstill | undefined
  #holders = 0
  #attendants = 0
  #isDue = false
  /** When the first read of this round began. */
  #roundMs = 0
  #lastReadMs = Number.NEGATIVE_INFINITY

  constructor(options: SharedReadsOptions = {}) {
    const { restMs = 0, longRestMs = restMs, mayRest = () => true, rest = createRest(), standstill } = options
    this.#restMs = restMs
    this.#longRestMs = longRestMs
    this.#mayRest = mayRest
    this.#rest = rest
    this.#standstill = standstill
  }

  /** Must be called at every read. */
  note(): void {
    if (this.#isDue || this.#restMs === 0) return
    this.#isDue = true
    this.#roundMs = performance.now()
    // Runs after all data that is available has been read.
    setImmediate(this.#restUntilDue)
  }

  /**
   * Milliseconds from the last standstill of the thread to the round of reads that goes on, however long that takes. Data
   * that is read soon after a standstill was waiting for the thread.
   */
  sinceStandstillMs(): number {
    const sinceMs = this.#standstill?.sinceMs() ?? Number.POSITIVE_INFINITY
    return this.#isDue ? Math.max(0, sinceMs - (performance.now() - this.#roundMs)) : sinceMs
  }

  /** Milliseconds since that standstill began. What is read after it arrived later than that. */
  sinceStandstillBeganMs(): number {
    return this.#standstill?.sinceBeganMs() ?? Number.POSITIVE_INFINITY
  }

  /**
   * Disables rests until the returned function is called. Needed for data that the system buffers too little of, such
   * as datagrams.
   */
  hold(): () => void {
    this.#holders++
    return once(() => this.#holders--)
  }

  /** Keeps rests short until the returned function is called, because someone waits for the data. */
  attend(): () => void {
    this.#attendants++
    return once(() => this.#attendants--)
  }

  readonly #restUntilDue = (): void => {
    this.#isDue = false
    const restMs = this.#attendants > 0 ? this.#restMs : this.#longRestMs
    const leftMs = restMs - (performance.now() - this.#lastReadMs)
    if (leftMs > 0 && this.#holders === 0 && this.#mayRest()) this.#rest(leftMs)
    this.#lastReadMs = performance.now()
  }
}

function once(action: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) action()
    isDone = true
  }
}
