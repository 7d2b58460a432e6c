// Turns segments into the entries of one part of a recorded stream: which bytes, how long, where on the stream's time axis. Fed in order,
// again and again while footage grows; an entry never changes once it is out. No I/O, no clock.

import { type Fragment, holeSeam90k, type Segment } from '../model/segment.ts'

/** Bytes of one file that a player fetches at once: whole fragments, the first one a key frame unless the group was too long. */
export type StreamEntry = {
  readonly segmentId: number
  readonly offset: number
  readonly bytes: number
  /** Of the footage. */
  readonly duration90k: number
  /** As it is shown: the same, divided by the speed. */
  readonly shown90k: number
  /** Position in the stream's footage, without gaps; the first entry of the stream is at 0. */
  readonly position90k: number
  /** Time stamp of its first picture; not whole when the speed is not 1. */
  readonly axis90k: number
  /** Wall clock of the first frame, Unix milliseconds. */
  readonly startMs: number
  readonly durationMs: number
  /** See model/clock-epoch.ts. */
  readonly epoch: number
  /** Does not continue the entry before: another run, another format, or footage is missing in between, also within a file. */
  readonly isDiscontinuity: boolean
  readonly isFirstOfSegment: boolean
  /** Length of the file's initialization section. */
  readonly initBytes: number
  /** The file has a track of audio. */
  readonly hasAudio: boolean
}

/** Where a part of a stream begins, and what was before it. */
export type EntriesOrigin = {
  /** The first entry begins with the group of pictures that holds this moment, or the first footage after it. Unix milliseconds. */
  readonly startMs: number
  /** In which the moment is looked for; later ones follow, see `rangeStartMs`. Undefined: the first. */
  readonly epoch?: number | undefined
  /** 1: as recorded, to be moved by `findShift`. Otherwise key frames alone, which take so much less time. */
  readonly speed: number
  /** Footage before it. */
  readonly position90k: number
  /** Time stamps begin here or later. */
  readonly axis90k: number
  /** Does not continue what was before. */
  readonly isDiscontinuity: boolean
  /** What players are given at speed 1: with a track of audio, or without one, whatever the files have. Undefined: as the files have it. */
  readonly hasAudio?: boolean
  /** So many entries at the beginning are a single group of pictures. */
  readonly shortEntries: number
  /** The first entry begins exactly here: it was once in the middle of others. */
  readonly place?: {
    readonly segmentId: number
    readonly offset: number
    readonly runBase90k: number
    readonly shift90k: number
  }
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
}

/** Of what is shown. */
export const entryLimits: EntryLimits = { minEntry90k: 4 * 90_000, maxEntry90k: 6 * 90_000 }

/** Of a part that begins: a player shows its first picture after one of them, and near now there is something to begin with. */
export const shortEntriesAtBegin = (speed: number): number => (speed === 1 ? 2 : 1)

/** Timestamps of the next run begin this much after the last, so that audio which outlasts its picture does not overlap. */
export const runGap90k = holeSeam90k

/** An entry has one date: where the wall clock leaves the durations of its pictures by more, another entry begins. */
const maxSkewMs = 200

/** Files of one run further apart than this do not continue each other: footage is missing. Where a reason is known for that, it may be less. */
const maxSeam90k = 9000

type Group = { first: Fragment; bytes: number; duration90k: number; durationMs: number }

export class StreamEntries {
  readonly entries: StreamEntry[] = []
  readonly #shifts = new Map<number, TimeShift>()
  readonly #origin: EntriesOrigin
  readonly #endMs: number
  #shortLeft: number
  #segment: Segment | undefined
  #nextFragment = 0
  #group: Group | undefined
  #position90k: number
  /** Where the next entry goes, at other speeds than 1. */
  #axis90k: number
  #isDiscontinuity: boolean
  #isFirstOfSegment = false
  /** There was footage before, in this part. */
  #hasAny = false
  #isFinished = false
  #epoch: number
  /** Of the present epoch: what ends up to here is left out. */
  #fromMs: number
  readonly #rangeStartMs: number
  #isEpochBegun = false
  #isEpochDone = false
  /** Files of the present epoch that begin up to here have been forgotten. */
  #droppedMs = Number.NEGATIVE_INFINITY

  /** `endMs` undefined: without end. `rangeStartMs`: where footage of later epochs begins; undefined: with all of it. */
  constructor(origin: EntriesOrigin, endMs: number | undefined, rangeStartMs = Number.NEGATIVE_INFINITY) {
    this.#origin = origin
    this.#epoch = origin.epoch ?? 0
    this.#fromMs = origin.startMs
    this.#rangeStartMs = rangeStartMs
    this.#endMs = endMs ?? Number.POSITIVE_INFINITY
    this.#position90k = origin.position90k
    this.#axis90k = origin.axis90k
    this.#isDiscontinuity = origin.isDiscontinuity
    this.#shortLeft = origin.shortEntries
  }

  /** True once the end is covered or `finish` was called: no entry will follow. */
  get isFinished(): boolean {
    return this.#isFinished
  }

  /** Where to look for more: footage from here on has not been seen whole. Unix milliseconds. */
  get cursorMs(): number {
    return this.#isEpochBegun ? this.#segment!.startMs : this.#fromMs
  }

  /** Of the footage that is taken in at the moment. */
  get epoch(): number {
    return this.#epoch
  }

  /** True once the end is covered in the present epoch. */
  get isEpochDone(): boolean {
    return this.#isEpochDone
  }

  /** All of the present epoch was added, and there is a later one. */
  nextEpoch(): void {
    this.#flush()
    this.#epoch++
    this.#fromMs = this.#rangeStartMs
    this.#isEpochBegun = false
    this.#isEpochDone = false
    this.#droppedMs = Number.NEGATIVE_INFINITY
  }

  /** Undefined for a segment that is not part of the stream (so far). */
  findShift(segmentId: number): TimeShift | undefined {
    return this.#shifts.get(segmentId)
  }

  /** Forgets the first `count` entries, and the files that no other is in. */
  drop(count: number): void {
    const kept = this.entries[count]?.segmentId ?? this.#segment?.id
    for (const { segmentId, startMs, epoch } of this.entries.splice(0, count)) {
      if (segmentId === kept) continue
      this.#shifts.delete(segmentId)
      if (epoch === this.#epoch) this.#droppedMs = Math.max(this.#droppedMs, startMs)
    }
  }

  /**
   * Segments must come in the order of their start; those seen before are skipped, and those of other epochs, the newest one is continued.
   * `isLastEpoch`: there is no later epoch so far.
   */
  add(segment: Segment, isLastEpoch = true): void {
    if (this.#isFinished || this.#isEpochDone || (segment.epoch ?? 0) !== this.#epoch) return
    if (segment.id !== this.#segment?.id) {
      if (this.#shifts.has(segment.id) || segment.endMs <= this.#fromMs) return
      if (segment.startMs <= this.#droppedMs) return
      if (segment.startMs >= this.#endMs) {
        this.#endEpoch(isLastEpoch)
        return
      }
      if (segment.fragments.length === 0) return
      this.#enter(segment)
    }
    this.#segment = segment
    this.#isEpochBegun = true
    for (; this.#nextFragment < segment.fragments.length; this.#nextFragment++) {
      const fragment = segment.fragments[this.#nextFragment]!
      if (fragment.startMs >= this.#endMs) {
        this.#endEpoch(isLastEpoch)
        return
      }
      this.#addFragment(fragment)
    }
    if (segment.isClosed) this.#flush()
    if (segment.endMs >= this.#endMs) this.#endEpoch(isLastEpoch)
  }

  /** Nothing will follow: what is there becomes the last entry. */
  finish(): void {
    this.#flush()
    this.#isFinished = true
  }

  #endEpoch(isLastEpoch: boolean): void {
    if (isLastEpoch) {
      this.finish()
      return
    }
    this.#flush()
    this.#isEpochDone = true
  }

  #enter(segment: Segment): void {
    this.#flush()
    const before = this.#segment
    this.#isFirstOfSegment = true
    if (!before) {
      this.#begin(segment)
      return
    }
    this.#nextFragment = this.#isEpochBegun ? 0 : findStart(segment.fragments, this.#fromMs)
    const { runStart90k } = segment
    const beforeShift = this.#shifts.get(before.id)!
    const beforeEnd90k = before.runStart90k + fileDuration90k(before)
    const isSeamless =
      before.runId === segment.runId &&
      before.initHash === segment.initHash &&
      segment.gapReason === undefined &&
      Math.abs(runStart90k - beforeEnd90k) <= maxSeam90k
    if (isSeamless) {
      this.#shifts.set(segment.id, { ...beforeShift, runStart90k })
      return
    }
    this.#isDiscontinuity = true
    this.#axis90k += runGap90k
    const { runBase90k, shift90k } = beforeShift
    const end90k = beforeEnd90k - runBase90k + shift90k
    this.#shifts.set(segment.id, { runStart90k, runBase90k: runStart90k, shift90k: end90k + runGap90k })
  }

  #begin({ id, runStart90k, fragments }: Segment): void {
    const { place, axis90k } = this.#origin
    if (place?.segmentId === id) {
      const { runBase90k, shift90k, offset } = place
      this.#shifts.set(id, { runStart90k, runBase90k, shift90k })
      this.#nextFragment = Math.max(
        0,
        fragments.findIndex((fragment) => fragment.offset >= offset),
      )
      return
    }
    this.#shifts.set(id, { runStart90k, runBase90k: runStart90k, shift90k: axis90k })
    this.#nextFragment = findStart(fragments, this.#fromMs)
  }

  #addFragment(fragment: Fragment): void {
    const group = this.#group
    if (group) {
      const { minEntry90k, maxEntry90k } = entryLimits
      const shown90k = group.duration90k / this.#origin.speed
      const isFull = shown90k >= (!fragment.isKey ? maxEntry90k : this.#shortLeft > 0 ? 0 : minEntry90k)
      const skewMs = fragment.startMs - group.first.startMs - group.duration90k / 90
      const isSkewed = fragment.isKey && Math.abs(skewMs) > maxSkewMs
      if (isFull || isSkewed || fragment.hole?.isCut) this.#flush()
    }
    if (fragment.hole?.isCut && this.#hasAny) {
      this.#isDiscontinuity = true
      this.#axis90k += holeSeam90k
    }
    this.#hasAny = true
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
    const { speed } = this.#origin
    const shift = this.#shifts.get(segment.id)!
    const shown90k = group.duration90k / speed
    this.entries.push({
      segmentId: segment.id,
      offset: group.first.offset,
      bytes: group.bytes,
      duration90k: group.duration90k,
      shown90k,
      position90k: this.#position90k,
      axis90k:
        speed === 1 ? shift.runStart90k - shift.runBase90k + shift.shift90k + group.first.start90k : this.#axis90k,
      startMs: group.first.startMs,
      durationMs: group.durationMs,
      epoch: this.#epoch,
      isDiscontinuity: this.#isDiscontinuity,
      isFirstOfSegment: this.#isFirstOfSegment,
      initBytes: segment.initBytes,
      hasAudio: hasAudioTrack(segment.codecs),
    })
    this.#position90k += group.duration90k
    this.#axis90k += shown90k
    this.#isDiscontinuity = false
    this.#isFirstOfSegment = false
    if (this.#shortLeft > 0) this.#shortLeft--
  }
}

/** `codecs` of a segment, those of pictures first. */
export function hasAudioTrack(codecs: string): boolean {
  return codecs.includes(',')
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
