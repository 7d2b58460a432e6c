// A track of a download while it is laid out: where its samples are, and when each is shown. Typed arrays that grow, because
// three hours have a million samples.

import type { SampleTables } from '../media/mp4/progressive-head.ts'
import type { ReadRun } from '../media/mp4/sample-records.ts'
import { scaleTicks } from '../media/mp4/timescale.ts'
import type { DownloadData } from './download-data.ts'
import type { SourceTrack } from './download-formats.ts'

export class DownloadTrack {
  readonly trackId: number
  readonly source: SourceTrack
  /** Runs of consecutive samples in the data of the download. */
  readonly chunks: { offset: number; samples: number; init: number }[] = []
  /** Initialization sections that describe the samples, one for each configuration. */
  readonly inits: Uint8Array[]
  /** The parameter sets in each, if they differ. */
  readonly #sets: Uint8Array[] = []
  firstTicks = 0
  #lastTicks = 0
  #init = 0
  #count = 0
  #sizes = new Uint32Array(1024)
  #durations = new Uint32Array(1024)
  #compositionOffsets = new Int32Array(1024)
  #isKey = new Uint8Array(1024)

  constructor(trackId: number, source: SourceTrack) {
    this.trackId = trackId
    this.source = source
    this.inits = [source.init]
  }

  /** When the last sample ends, if nothing follows. */
  get endTicks(): number {
    return this.#count === 0 ? 0 : this.#lastTicks + this.#durations[this.#count - 1]!
  }

  get endTicks90k(): number {
    return Math.ceil((this.endTicks * 90_000) / this.source.timescale)
  }

  get tables(): SampleTables {
    return {
      sizes: this.#sizes.subarray(0, this.#count),
      durations: this.#durations.subarray(0, this.#count),
      compositionOffsets: this.#compositionOffsets.subarray(0, this.#count),
      isKey: this.#isKey.subarray(0, this.#count),
    }
  }

  /** The source of the samples that are added next. */
  use({ init, parameterSets }: SourceTrack): void {
    // Without sets of its own, it is described as the first one is.
    if (!parameterSets) return
    const known = this.#sets.findIndex((sets) => Buffer.compare(sets, parameterSets) === 0)
    this.#init = known < 0 ? this.#sets.push(parameterSets) - 1 : known
    this.inits[this.#init] ??= init
  }

  /**
   * Adds samples that begin at `offset` of the data. Each lasts until the next one begins; the one before them lasts until
   * `baseTicks`. Returns when the first one begins.
   */
  add(run: Omit<ReadRun, 'trackId' | 'dataOffset' | 'dataBytes'>, baseTicks: number, offset: number): number {
    const { count, sizes, durations, compositionOffsets, isKey } = run
    if (this.#count === 0) {
      this.firstTicks = this.#lastTicks = baseTicks
    } else {
      const durationTicks = Math.max(1, baseTicks - this.#lastTicks)
      this.#durations[this.#count - 1] = durationTicks
      this.#lastTicks += durationTicks
    }
    const firstTicks = this.#lastTicks
    this.chunks.push({ offset, samples: count, init: this.#init })
    this.#reserve(count)
    let at = this.#count
    for (let i = 0; i < count; i++, at++) {
      if (i > 0) this.#lastTicks += durations[i - 1]!
      this.#sizes[at] = sizes[i]!
      this.#durations[at] = durations[i]!
      this.#compositionOffsets[at] = compositionOffsets[i]!
      this.#isKey[at] = isKey[i]!
    }
    this.#count = at
    return firstTicks
  }

  /** Fills an audio track for video without audio. */
  addSilence(data: DownloadData, begin90k: number, until90k: number): void {
    const { silence, timescale } = this.source
    if (!silence) return
    const baseTicks = Math.max(this.endTicks, scaleTicks(begin90k, timescale))
    const count = Math.ceil((scaleTicks(until90k, timescale) - baseTicks) / silence.samples)
    if (count <= 0) return
    const run = {
      count,
      baseDecodeTime: baseTicks,
      sizes: new Uint32Array(count).fill(silence.data.length),
      durations: new Uint32Array(count).fill(silence.samples),
      compositionOffsets: new Int32Array(count),
      isKey: new Uint8Array(count).fill(1),
    }
    this.add(run, baseTicks, data.addBytes(Buffer.concat(new Array<Uint8Array>(count).fill(silence.data))))
  }

  /** Shows the last frame until the end of the download, which may lie in a gap. */
  lastUntil(end90k: number): void {
    const last = this.#count - 1
    const endTicks = scaleTicks(end90k, this.source.timescale) - this.#compositionOffsets[last]!
    this.#durations[last] = Math.max(this.#durations[last]!, endTicks - this.#lastTicks)
  }

  #reserve(count: number): void {
    const needed = this.#count + count
    if (needed <= this.#sizes.length) return
    const capacity = Math.max(needed, this.#sizes.length * 2)
    const grow = <T extends Uint32Array | Int32Array | Uint8Array>(before: T, after: T): T => {
      after.set(before)
      return after
    }
    this.#sizes = grow(this.#sizes, new Uint32Array(capacity))
    this.#durations = grow(this.#durations, new Uint32Array(capacity))
    this.#compositionOffsets = grow(this.#compositionOffsets, new Int32Array(capacity))
    this.#isKey = grow(this.#isKey, new Uint8Array(capacity))
  }
}
