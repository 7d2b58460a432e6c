// Turns segments into the entries of one part of a recorded stream: their bytes, durations and positions on the time
// axis of the stream. Segments are added in order, repeatedly while footage grows. A finished entry never changes. No
// I/O, no clock.

import { type Fragment, holeSeam90k, type Segment } from '../model/segment.ts'
import { beginRun, endOnRun90k, isSeamless, shiftTicks, type TimeShift } from './time-shift.ts'

/**
 * The bytes of one file that a player fetches at once: complete fragments, the first of which is a key frame unless the
 * group was too long.
 */
export type StreamEntry = {
  readonly segmentId: number
  readonly offset: number
  readonly bytes: number
  /** Duration of the footage. */
  readonly duration90k: number
  /** Duration in the player: the duration of the footage divided by the speed. */
  readonly shown90k: number
  /** Position in the footage of the stream, without gaps. The first entry of the stream is at 0. */
  readonly position90k: number
  /** Timestamp of the first frame; may be fractional when the speed is not 1. */
  readonly axis90k: number
  /** Wall clock of the first frame, Unix milliseconds. */
  readonly startMs: number
  readonly durationMs: number
  /** See model/clock-epoch.ts. */
  readonly epoch: number
  /**
   * The entry does not continue the previous one: the run or the format differs, or footage is missing in between or
   * within the file.
   */
  readonly isDiscontinuity: boolean
  readonly isFirstOfSegment: boolean
  /** Length of the initialization section of the file. */
  readonly initBytes: number
  /** The file has an audio track. */
  readonly hasAudio: boolean
}

/** Where a part of a stream begins, and what precedes it. */
export type EntriesOrigin = {
  /**
   * The first entry begins with the group of pictures that contains this moment, or with the first footage after it.
   * Unix milliseconds.
   */
  readonly startMs: number
  /** The epoch in which `startMs` is searched. Later epochs follow, see `rangeStartMs`. Undefined: the first epoch. */
  readonly epoch?: number | undefined
  /** 1 plays the footage as recorded, shifted by `findShift`. Other speeds play only key frames. */
  readonly speed: number
  /** Duration of the footage before the part. */
  readonly position90k: number
  /** Timestamps begin here or later. */
  readonly axis90k: number
  /** The part does not continue what precedes it. */
  readonly isDiscontinuity: boolean
  /** Whether the stream has an audio track at speed 1, whatever the files have. Undefined: as in the files. */
  readonly hasAudio?: boolean
  /** Number of entries at the beginning that are a single group of pictures. */
  readonly shortEntries: number
  /** The exact position of the first entry, for a part that once had earlier entries. */
  readonly place?: {
    readonly segmentId: number
    readonly offset: number
    readonly runBase90k: number
    readonly shift90k: number
  }
}

export type EntryLimits = {
  /** An entry ends at the first key frame after this duration. */
  readonly minEntry90k: number
  /** In a group of pictures longer than this, an entry ends at the next fragment, between key frames. */
  readonly maxEntry90k: number
}

/** Limits for the duration in the player. */
export const entryLimits: EntryLimits = { minEntry90k: 4 * 90_000, maxEntry90k: 6 * 90_000 }

/**
 * Number of short entries at the start of a part. A player can show the first frame after one entry, and a stream near
 * the current time has entries to start with.
 */
export const initialShortEntries = (speed: number): number => (speed === 1 ? 2 : 1)

/** Timestamps of the next run begin this much later, so that audio which ends after its video does not overlap. */
export const runGap90k = holeSeam90k

/**
 * An entry has one date. Another entry begins when the wall clock differs from the durations of the frames by more than
 * this.
 */
const maxSkewMs = 200

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
  /** Timestamp of the next entry at speeds other than 1. */
  #axis90k: number
  #isDiscontinuity: boolean
  #isFirstOfSegment = false
  /** The part already has footage. */
  #hasFootage = false
  #isFinished = false
  #epoch: number
  /** Footage of the current epoch that ends before this is left out. */
  #fromMs: number
  readonly #rangeStartMs: number
  #isEpochBegun = false
  #isEpochDone = false
  /** Files of the current epoch that begin up to here have been dropped. */
  #droppedMs = Number.NEGATIVE_INFINITY

  /**
   * Without `endMs` there is no end. Footage of later epochs begins at `rangeStartMs`, or plays completely without it.
   */
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

  /** True once the end is covered or `finish` was called. No entry will follow. */
  get isFinished(): boolean {
    return this.#isFinished
  }

  /** Where to search for more footage: later footage has not been added completely. Unix milliseconds. */
  get cursorMs(): number {
    return this.#isEpochBegun ? this.#segment!.startMs : this.#fromMs
  }

  /** The epoch whose footage is currently added. */
  get epoch(): number {
    return this.#epoch
  }

  /** True once the end is covered in the current epoch. */
  get isEpochDone(): boolean {
    return this.#isEpochDone
  }

  /** Continues with the next epoch after all segments of the current one were added. */
  nextEpoch(): void {
    this.#finishEntry()
    this.#epoch++
    this.#fromMs = this.#rangeStartMs
    this.#isEpochBegun = false
    this.#isEpochDone = false
    this.#droppedMs = Number.NEGATIVE_INFINITY
  }

  /** Returns undefined for a segment that is not part of the stream, or not yet. */
  findShift(segmentId: number): TimeShift | undefined {
    return this.#shifts.get(segmentId)
  }

  /** Drops the first `count` entries, and the files that no other entry is in. */
  drop(count: number): void {
    const kept = this.entries[count]?.segmentId ?? this.#segment?.id
    for (const { segmentId, startMs, epoch } of this.entries.splice(0, count)) {
      if (segmentId === kept) continue
      this.#shifts.delete(segmentId)
      if (epoch === this.#epoch) this.#droppedMs = Math.max(this.#droppedMs, startMs)
    }
  }

  /**
   * Adds a segment. Segments must be added in the order of their start. Known segments and those of other epochs are
   * skipped; the newest one is continued. `isLastEpoch` means that there is no later epoch so far.
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
      this.#startSegment(segment)
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
    if (segment.isClosed) this.#finishEntry()
    if (segment.endMs >= this.#endMs) this.#endEpoch(isLastEpoch)
  }

  /** Ends the part: the remaining footage becomes the last entry. */
  finish(): void {
    this.#finishEntry()
    this.#isFinished = true
  }

  #endEpoch(isLastEpoch: boolean): void {
    if (isLastEpoch) {
      this.finish()
      return
    }
    this.#finishEntry()
    this.#isEpochDone = true
  }

  #startSegment(segment: Segment): void {
    this.#finishEntry()
    const previous = this.#segment
    this.#isFirstOfSegment = true
    if (!previous) {
      this.#startPart(segment)
      return
    }
    this.#nextFragment = this.#isEpochBegun ? 0 : findStart(segment.fragments, this.#fromMs)
    const previousShift = this.#shifts.get(previous.id)!
    const isSameFormat = previous.initHash === segment.initHash
    if (isSameFormat && segment.gapReason === undefined && isSeamless(previous, segment)) {
      this.#shifts.set(segment.id, { ...previousShift, runStart90k: segment.runStart90k })
      return
    }
    this.#isDiscontinuity = true
    this.#axis90k += runGap90k
    const { runBase90k, shift90k } = previousShift
    const end90k = endOnRun90k(previous) - runBase90k + shift90k
    this.#shifts.set(segment.id, beginRun(segment, end90k + runGap90k))
  }

  #startPart(segment: Segment): void {
    const { id, runStart90k, fragments } = segment
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
    this.#shifts.set(id, beginRun(segment, axis90k))
    this.#nextFragment = findStart(fragments, this.#fromMs)
  }

  #addFragment(fragment: Fragment): void {
    const group = this.#group
    if (group) {
      const { minEntry90k, maxEntry90k } = entryLimits
      const shown90k = group.duration90k / this.#origin.speed
      const isFull = shown90k >= (!fragment.isKey ? maxEntry90k : this.#shortLeft > 0 ? 0 : minEntry90k)
      const skewMs = fragment.startMs - group.first.startMs - group.duration90k / 90
      const isSkewed = Math.abs(skewMs) > maxSkewMs
      if (isFull || isSkewed || fragment.hole?.isCut) this.#finishEntry()
    }
    if (fragment.hole?.isCut && this.#hasFootage) {
      this.#isDiscontinuity = true
      this.#axis90k += holeSeam90k
    }
    this.#hasFootage = true
    this.#group ??= { first: fragment, bytes: 0, duration90k: 0, durationMs: 0 }
    this.#group.bytes = fragment.offset + fragment.bytes - this.#group.first.offset
    this.#group.duration90k += fragment.duration90k
    this.#group.durationMs = fragment.startMs + fragment.durationMs - this.#group.first.startMs
  }

  #finishEntry(): void {
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
      axis90k: speed === 1 ? shiftTicks(shift, 90_000) + group.first.start90k : this.#axis90k,
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

/** `codecs` are the codec strings of a segment, video first. */
export function hasAudioTrack(codecs: string): boolean {
  return codecs.includes(',')
}

/**
 * Returns the index of the group of pictures that contains `startMs`, or of the first one when the file begins later.
 */
function findStart(fragments: readonly Fragment[], startMs: number): number {
  let start = 0
  for (const [i, fragment] of fragments.entries()) {
    if (fragment.startMs > startMs) break
    if (fragment.isKey) start = i
  }
  return start
}
