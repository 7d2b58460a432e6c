// Turns segments into the entries of one recorded stream: which bytes, how long, where on the stream's time axis. Fed in order,
// again and again while footage grows; an entry never changes once it is out. No I/O, no clock.

import type { Fragment, Segment } from '../model/segment.ts'

/** Bytes of one file that a player fetches at once: whole fragments, the first one a key frame unless the group was too long. */
export type StreamEntry = {
  readonly segmentId: number
  readonly offset: number
  readonly bytes: number
  readonly duration90k: number
  /** Position on the stream's axis of footage alone, without gaps; the first entry is at 0. */
  readonly position90k: number
  /** Wall clock of the first frame, Unix milliseconds. */
  readonly startMs: number
  readonly durationMs: number
  /** Does not continue the entry before: another run, another format, or footage is missing in between. */
  readonly isDiscontinuity: boolean
  readonly isFirstOfSegment: boolean
  /** Set where another initialization section begins to hold. */
  readonly initBytes: number | undefined
}

/** How the decode times of a file, which begin at 0, move onto the axis that the stream's timestamps have. */
export type TimeShift = {
  /** Position on the run's axis of this file, and of the first file of the run in this stream. */
  readonly runStart90k: number
  readonly runBase90k: number
  /** Of the first file of the run in this stream. */
  readonly shift90k: number
}

export type EntryLimits = {
  /** An entry ends at the first key frame after this. */
  readonly minEntry90k: number
  /** An entry of a group of pictures longer than this ends at the next fragment, between key frames. */
  readonly maxEntry90k: number
  /** So many entries at the beginning are a single group of pictures. */
  readonly shortEntries: number
}

export const defaultEntryLimits: EntryLimits = { minEntry90k: 4 * 90_000, maxEntry90k: 6 * 90_000, shortEntries: 2 }

/** Timestamps of the next run begin this much after the last, so that sound which outlasts its picture does not overlap. */
const runGap90k = 13_500

/** Files of one run further apart than this do not continue each other: footage is missing. */
const maxSeam90k = 9000

type Group = { first: Fragment; bytes: number; duration90k: number; durationMs: number }

export class StreamEntries {
  readonly entries: StreamEntry[] = []
  readonly #shifts = new Map<number, TimeShift>()
  readonly #startMs: number
  readonly #endMs: number
  readonly #limits: EntryLimits
  #segment: Segment | undefined
  #nextFragment = 0
  #group: Group | undefined
  #position90k = 0
  #isDiscontinuity = false
  #isFirstOfSegment = false
  #isFinished = false

  /** `endMs` undefined: without end. */
  constructor(startMs: number, endMs: number | undefined, limits: EntryLimits = defaultEntryLimits) {
    this.#startMs = startMs
    this.#endMs = endMs ?? Number.POSITIVE_INFINITY
    this.#limits = limits
  }

  /** True once the end is covered or `finish` was called: no entry will follow. */
  get isFinished(): boolean {
    return this.#isFinished
  }

  /** Where to look for more: footage from here on has not been seen whole. Unix milliseconds. */
  get cursorMs(): number {
    return this.#segment?.startMs ?? this.#startMs
  }

  /** Undefined for a segment that is not part of the stream (so far). */
  findShift(segmentId: number): TimeShift | undefined {
    return this.#shifts.get(segmentId)
  }

  /** Segments must come in the order of their start; those seen before are skipped, the newest one is continued. */
  add(segment: Segment): void {
    if (this.#isFinished) return
    if (segment.id !== this.#segment?.id) {
      if (this.#shifts.has(segment.id) || segment.endMs <= this.#startMs) return
      if (segment.startMs >= this.#endMs) {
        this.finish()
        return
      }
      if (segment.fragments.length === 0) return
      this.#enter(segment)
    }
    this.#segment = segment
    for (; this.#nextFragment < segment.fragments.length; this.#nextFragment++) {
      const fragment = segment.fragments[this.#nextFragment]!
      if (fragment.startMs >= this.#endMs) {
        this.finish()
        return
      }
      this.#addFragment(fragment)
    }
    if (segment.isClosed) this.#flush()
    if (segment.endMs >= this.#endMs) this.finish()
  }

  /** Nothing will follow: what is there becomes the last entry. */
  finish(): void {
    this.#flush()
    this.#isFinished = true
  }

  #enter(segment: Segment): void {
    this.#flush()
    const before = this.#segment
    const beforeShift = before && this.#shifts.get(before.id)
    const beforeEnd90k = before ? before.runStart90k + fileDuration90k(before) : 0
    this.#nextFragment = before ? 0 : findStart(segment.fragments, this.#startMs)
    this.#isFirstOfSegment = true
    if (!before || !beforeShift) {
      this.#shifts.set(segment.id, { runStart90k: segment.runStart90k, runBase90k: segment.runStart90k, shift90k: 0 })
      return
    }
    const isSeamless =
      before.runId === segment.runId &&
      before.initHash === segment.initHash &&
      Math.abs(segment.runStart90k - beforeEnd90k) <= maxSeam90k
    if (isSeamless) {
      this.#shifts.set(segment.id, { ...beforeShift, runStart90k: segment.runStart90k })
      return
    }
    this.#isDiscontinuity = true
    const { runBase90k, shift90k } = beforeShift
    this.#shifts.set(segment.id, {
      runStart90k: segment.runStart90k,
      runBase90k: segment.runStart90k,
      shift90k: beforeEnd90k - runBase90k + shift90k + runGap90k,
    })
  }

  #addFragment(fragment: Fragment): void {
    const group = this.#group
    if (group) {
      // The first entries are short: a player shows its first picture after one of them.
      const min90k = this.entries.length < this.#limits.shortEntries ? 0 : this.#limits.minEntry90k
      if (group.duration90k >= (fragment.isKey ? min90k : this.#limits.maxEntry90k)) this.#flush()
    }
    this.#group ??= { first: fragment, bytes: 0, duration90k: 0, durationMs: 0 }
    this.#group.bytes = fragment.offset + fragment.bytes - this.#group.first.offset
    this.#group.duration90k += fragment.duration90k
    this.#group.durationMs = fragment.startMs + fragment.durationMs - this.#group.first.startMs
  }

  #flush(): void {
    const group = this.#group
    const segment = this.#segment
    if (!group || !segment) return
    this.#group = undefined
    const needsInit = this.#isDiscontinuity || this.entries.length === 0
    this.entries.push({
      segmentId: segment.id,
      offset: group.first.offset,
      bytes: group.bytes,
      duration90k: group.duration90k,
      position90k: this.#position90k,
      startMs: group.first.startMs,
      durationMs: group.durationMs,
      isDiscontinuity: this.#isDiscontinuity,
      isFirstOfSegment: this.#isFirstOfSegment,
      initBytes: needsInit ? segment.initBytes : undefined,
    })
    this.#position90k += group.duration90k
    this.#isDiscontinuity = false
    this.#isFirstOfSegment = false
  }
}

/** The group of pictures that holds `startMs`; the first one when the file begins later. */
function findStart(fragments: readonly Fragment[], startMs: number): number {
  let start = 0
  for (const [i, fragment] of fragments.entries()) {
    if (fragment.startMs > startMs) break
    if (fragment.isKey) start = i
  }
  return start
}

function fileDuration90k({ fragments }: Segment): number {
  const last = fragments.at(-1)
  return last ? last.start90k + last.duration90k : 0
}
