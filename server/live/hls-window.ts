// Keeps the newest live HLS segments of one camera in memory and lists them in a sliding playlist, with their parts if
// the camera has any. RFC 8216 6.2.2, RFC 8216bis 6.2.2.
//
// A segment begins with a key frame and ends with a group of pictures once it is long enough. A group that exceeds the
// maximum segment duration, or the target duration of the first playlist, is split; the list still begins at a key
// frame. A segment that has left the list stays readable for a while, for players that read the playlist just before.

import type { ByteBudget } from '../base/byte-budget.ts'
import {
  type OpenEntry,
  writeOpenEntry,
  writePlaylistEntry,
  writePlaylistHead,
  writePreloadHint,
} from '../media/hls/media-playlist.ts'
import type { LiveChunk } from './live-chunk.ts'
import { shortestShare } from './part-rhythm.ts'

export type HlsWindowOptions = {
  /**
   * Number of the first segment. Must increase from one window of a camera to the next, because players remember it.
   */
  readonly firstSequence: number
  /** The same for discontinuities. Must stay small, because players keep lists of this length. */
  readonly firstDiscontinuitySequence: number
  /** Consecutive groups of pictures share a segment until it is at least this long. */
  readonly minSegmentMs: number
  /** A longer group of pictures is split into several segments. Only the first of them begins with a key frame. */
  readonly maxSegmentMs: number
  readonly listedSegments: number
  /** Number of segments that stay readable after they have left the list. */
  readonly lateSegments: number
  /** A segment that grows beyond this is dropped. */
  readonly maxSegmentBytes: number
  /** Limit for all segments together. The oldest are dropped first, even if they are listed. */
  readonly maxBytes: number
  /**
   * The limit for the windows of all cameras together. One window may hold no more than is left for the others, so a
   * camera that sends far too much cannot use up the memory of the others.
   */
  readonly budget: ByteBudget
}

type Init = { readonly name: string; readonly data: Uint8Array }

type Segment = {
  readonly sequence: number
  readonly name: string
  readonly init: Init
  readonly isKey: boolean
  readonly isDiscontinuity: boolean
  readonly wallMs: number
  durationMs: number
  bytes: number
  readonly chunks: LiveChunk[]
  /** `chunks` are views of it. */
  whole: Uint8Array | undefined
}

/**
 * Leaves room in the target duration for groups of pictures that are a little longer than those before the first
 * playlist.
 */
const targetSlackS = 0.25

/** Segments are rarely whole seconds, unlike the target duration. Players accept three segments of 1.92 s as enough. */
const toleratedShare = 0.95

/** Players begin this many target durations before the end. The list must not become shorter. RFC 8216 6.2.2, 6.3.3. */
const minTargets = 3

/** How many segments a request may ask for in advance. RFC 8216bis 6.2.5.2. */
const maxAhead = 2
/** The same for parts, in seconds; three parts at least. */
const maxPartsAheadS = 3

export class HlsWindow {
  readonly #options: HlsWindowOptions
  #nextSequence: number
  #discontinuities: number
  #init: Init | undefined
  #isDiscontinuity = false
  #open: Segment | undefined
  /** What comes next continues the segment before, so it may be in the middle of a group of pictures. */
  #isContinuing = false
  /** Oldest first: the late ones, then those listed. */
  #segments: Segment[] = []
  /** Number of the first segment listed. */
  #firstListed: number
  #targetDurationS = 1
  /** A playlist has been sent, so the target duration must not change. RFC 8216 6.2.1. */
  #isPublished = false
  /** Of the newest chunk. */
  #newestPartTargetMs: number | undefined
  /** Of the playlist, from the first one on. Undefined if it has no parts. */
  #partTargetMs: number | undefined
  /** Bytes of all segments, including the open one. */
  #bytes = 0

  constructor(options: HlsWindowOptions) {
    this.#options = options
    this.#nextSequence = options.firstSequence
    this.#firstListed = options.firstSequence
    this.#discontinuities = options.firstDiscontinuitySequence
  }

  add(chunk: LiveChunk): void {
    switch (chunk.kind) {
      case 'init':
        this.#breakOff()
        if (!this.#init || !isEqual(this.#init.data, chunk.data)) {
          this.#init = { name: `init-${this.#nextSequence}.mp4`, data: chunk.data }
        }
        return
      case 'gap':
      case 'end':
        this.#breakOff()
        return
      case 'media':
        this.#addMedia(chunk)
    }
  }

  get listedMs(): number {
    return sumDurations(this.#listed())
  }

  /**
   * True if the list is long enough for every player. Some begin three segments before its end and wait if there are
   * fewer.
   */
  get isEnoughForAll(): boolean {
    const { listedCount, listedMs } = this
    return listedCount >= minTargets && listedMs >= minTargets * this.#targetDurationS * 1000 * toleratedShare
  }

  get listedCount(): number {
    return this.#listed().length
  }

  /** Greater than any discontinuity of this window. */
  get nextDiscontinuitySequence(): number {
    return this.#discontinuities + this.#listed().filter((segment) => segment.isDiscontinuity).length + 1
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Releases all segments. No chunk may be added afterwards. */
  close(): void {
    this.#letGo(this.#bytes)
    this.#open = undefined
    this.#segments = []
  }

  get targetDurationMs(): number {
    return this.#targetDurationS * 1000
  }

  /** The part that comes next. Undefined if the playlist has no parts, or the open segment has none. */
  get nextPartName(): string | undefined {
    if (!this.#partTargetMs || (this.#open && !this.#hasParts(this.#open))) return undefined
    return partName(this.#nextSequence, this.#open?.chunks.length ?? 0)
  }

  /**
   * Whether the playlist has come to segment number `sequence`, or to its part number `part`. 'never' if that is too far
   * ahead to be waited for.
   */
  reaches(sequence: number, part = 0): boolean | 'never' {
    if (!this.#partTargetMs) return true
    const next = this.#nextSequence
    const isComplete = sequence < next
    // The parts that a complete segment turned out not to have are those of the next one.
    const last = isComplete ? this.#segments.find((segment) => segment.sequence === sequence) : undefined
    if (last && sequence === next - 1 && part >= last.chunks.length) return this.reaches(next, 0)
    if (isComplete) return true
    const parts = this.#open && this.#hasParts(this.#open) ? this.#open.chunks.length : 0
    if (sequence === next && part < parts) return true
    const ahead = part - (sequence === next ? parts : 0)
    const isFar = ahead >= Math.max(3, Math.ceil((maxPartsAheadS * 1000) / this.#partTargetMs))
    return sequence >= next + maxAhead || isFar ? 'never' : false
  }

  /** The media playlist. `urlOf` returns the URL of a segment, part or initialization section by its name. */
  playlist(urlOf: (name: string) => string): string {
    const segments = this.#listed()
    // Players cannot begin at the newest part of a group that is cut, and hls.js does not find the one they can begin at.
    const last = this.#open ? undefined : segments.at(-1)?.chunks.at(-1)
    const isCut = last?.endsGroup === false || [...segments, this.#open].some((segment) => segment?.isKey === false)
    if (!this.#isPublished && !isCut) this.#partTargetMs = this.#newestPartTargetMs
    this.#isPublished = true
    const { nextPartName } = this
    const open = nextPartName ? this.#open : undefined
    const isIndependent = segments.every(({ isKey }) => isKey) && open?.isKey !== false
    let text = writePlaylistHead({
      targetDurationSeconds: this.#targetDurationS,
      mediaSequence: this.#firstListed,
      discontinuitySequence: this.#discontinuities,
      isIndependent,
      start: isIndependent ? undefined : { secondsBeforeEnd: this.#startBeforeEndMs(segments) / 1000 },
      partTargetSeconds: this.#partTargetMs && this.#partTargetMs / 1000,
    })
    let init: Init | undefined
    let leftMs = sumDurations(segments)
    const describe = (segment: Segment): OpenEntry => {
      const { isDiscontinuity, wallMs } = segment
      const isMapped = isDiscontinuity || segment.init !== init
      init = segment.init
      leftMs -= segment.durationMs
      return {
        programDateMs: wallMs,
        isDiscontinuity,
        ...(isMapped && { map: { uri: urlOf(segment.init.name) } }),
        ...(leftMs < minTargets * this.targetDurationMs && { parts: this.#partsOf(segment, urlOf) }),
      }
    }
    for (const segment of segments) {
      const durationSeconds = segment.durationMs / 1000
      text += writePlaylistEntry({ ...describe(segment), uri: urlOf(segment.name), durationSeconds })
    }
    if (open) text += writeOpenEntry(describe(open))
    return nextPartName ? text + writePreloadHint(urlOf(nextPartName)) : text
  }

  #partsOf(segment: Segment, urlOf: (name: string) => string): OpenEntry['parts'] {
    const targetMs = this.#partTargetMs
    if (!targetMs || !this.#hasParts(segment)) return []
    return segment.chunks.map(({ durationMs, isKey }, i) => ({
      uri: urlOf(partName(segment.sequence, i)),
      // A camera that stood still makes a part longer. Players refuse a playlist that says so.
      durationSeconds: Math.min(durationMs, targetMs) / 1000,
      isIndependent: isKey,
    }))
  }

  /** The bytes of a segment, part or initialization section, or undefined if there is none with this name. */
  find(name: string): Uint8Array | undefined {
    const [, sequence, part] = /^(\d+)\.(\d+)\.m4s$/.exec(name) ?? []
    for (const segment of this.#open ? [...this.#segments, this.#open] : this.#segments) {
      if (segment.init.name === name) return segment.init.data
      if (part !== undefined && String(segment.sequence) === sequence) return segment.chunks[Number(part)]?.data
      if (segment.name === name && segment !== this.#open) return join(segment)
    }
    return undefined
  }

  #addMedia(chunk: LiveChunk): void {
    if (!this.#init) return
    const { minSegmentMs, maxSegmentMs, maxSegmentBytes } = this.#options
    const limitMs = chunk.isKey ? minSegmentMs : maxSegmentMs
    if (this.#open && (this.#open.durationMs >= limitMs || this.#isTooLong(this.#open.durationMs + chunk.durationMs))) {
      this.#closeSegment()
    }
    if (!this.#open) {
      if (!chunk.isKey && !this.#isContinuing) return
      this.#open = {
        sequence: this.#nextSequence,
        name: `${this.#nextSequence}.m4s`,
        init: this.#init,
        isKey: chunk.isKey,
        isDiscontinuity: this.#isDiscontinuity,
        wallMs: chunk.wallMs,
        durationMs: 0,
        bytes: 0,
        chunks: [],
        whole: undefined,
      }
    }
    const open = this.#open
    open.durationMs += chunk.durationMs
    open.bytes += chunk.data.length
    open.chunks.push(chunk)
    this.#newestPartTargetMs = chunk.partTargetMs
    this.#hold(chunk.data.length)
    while (this.#isOver && this.#segments.length > 0) this.#dropFirst()
    if (open.bytes > maxSegmentBytes || this.#isOver) {
      this.#letGo(open.bytes)
      this.#open = undefined
      this.#isContinuing = false
      this.#isDiscontinuity = true
    } else if (this.#isFull(open, chunk)) this.#closeSegment()
  }

  /**
   * Whether a segment exceeds the published target duration. A chunk that is too long by itself is listed nevertheless and
   * raises the target.
   */
  #isTooLong(ms: number): boolean {
    return this.#isPublished && Math.round(ms / 1000) > this.#targetDurationS
  }

  #hasParts({ chunks }: Segment): boolean {
    const targetMs = this.#partTargetMs ?? 0
    return chunks.every(({ durationMs, partTargetMs }) => partTargetMs !== undefined || durationMs <= targetMs)
  }

  #isFull({ durationMs }: Segment, { durationMs: partMs, endsGroup, partTargetMs }: LiveChunk): boolean {
    const { minSegmentMs, maxSegmentMs } = this.#options
    // After a split, the rest of a group may be a short part.
    const isShort = partTargetMs !== undefined && partMs < shortestShare * partTargetMs
    if (endsGroup && (durationMs >= minSegmentMs || isShort)) return true
    // Players are given the name of the next part, so it must be known to which segment it will belong.
    const nextMs = durationMs + (partTargetMs ?? 0)
    return partTargetMs !== undefined && (nextMs > maxSegmentMs || this.#isTooLong(nextMs))
  }

  /** Ends the open segment. The next chunk does not continue it. */
  #breakOff(): void {
    this.#closeSegment()
    this.#isContinuing = false
    if (this.#nextSequence > this.#options.firstSequence) this.#isDiscontinuity = true
  }

  #closeSegment(): void {
    const segment = this.#open
    if (!segment) return
    this.#open = undefined
    this.#isDiscontinuity = false
    this.#isContinuing = true
    this.#nextSequence++
    const seconds = segment.durationMs / 1000
    const minS = this.#isPublished ? Math.round(seconds) : Math.ceil(seconds - targetSlackS)
    this.#targetDurationS = Math.max(this.#targetDurationS, minS)
    this.#segments.push(segment)
    this.#slide()
  }

  /**
   * Moves the front of the list to the last key frame at least `listedSegments` old, and releases segments that left
   * the list long ago.
   */
  #slide(): void {
    const { listedSegments, lateSegments, maxBytes } = this.#options
    let front = Math.max(0, this.#segments.length - listedSegments)
    let listedMs = sumDurations(this.#segments.slice(front))
    while (front > 0 && (!this.#segments[front]!.isKey || listedMs < minTargets * this.#targetDurationS * 1000)) {
      front--
      listedMs += this.#segments[front]!.durationMs
    }
    for (const segment of this.#segments.slice(0, front)) {
      if (segment.sequence >= this.#firstListed && segment.isDiscontinuity) this.#discontinuities++
    }
    this.#firstListed = this.#segments[front]!.sequence
    for (const { bytes } of this.#segments.splice(0, Math.max(0, front - lateSegments))) this.#letGo(bytes)
    while (this.bytes > maxBytes && this.#segments.length > 1) this.#dropFirst()
  }

  #dropFirst(): void {
    const first = this.#segments.shift()!
    this.#letGo(first.bytes)
    if (first.sequence < this.#firstListed) return
    if (first.isDiscontinuity) this.#discontinuities++
    this.#firstListed = first.sequence + 1
  }

  get #isOver(): boolean {
    return this.#bytes > this.#options.budget.leftBytes
  }

  #hold(bytes: number): void {
    this.#bytes += bytes
    this.#options.budget.charge(bytes)
  }

  #letGo(bytes: number): void {
    this.#bytes -= bytes
    this.#options.budget.give(bytes)
  }

  #listed(): Segment[] {
    return this.#segments.filter(({ sequence }) => sequence >= this.#firstListed)
  }

  /**
   * The distance from the end of the list to the newest key frame that has enough after it to play without stalling at
   * once. Whole milliseconds, and as durations are rounded too, rather less: the segment before may have no key frame.
   */
  #startBeforeEndMs(segments: readonly Segment[]): number {
    let ms = 0
    let startMs = 0
    for (const segment of segments.toReversed()) {
      ms += segment.durationMs
      if (!segment.isKey) continue
      startMs = ms
      if (ms >= this.#options.maxSegmentMs) break
    }
    return Math.max(0, Math.floor(startMs - 0.1))
  }
}

function sumDurations(segments: readonly Segment[]): number {
  return segments.reduce((sum, { durationMs }) => sum + durationMs, 0)
}

function partName(sequence: number, part: number): string {
  return `${sequence}.${part}.m4s`
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}

function join(segment: Segment): Uint8Array {
  const { chunks, bytes } = segment
  if (chunks.length === 1) return chunks[0]!.data
  if (segment.whole) return segment.whole
  const whole = new Uint8Array(bytes)
  let at = 0
  for (const [i, chunk] of chunks.entries()) {
    whole.set(chunk.data, at)
    chunks[i] = { ...chunk, data: whole.subarray(at, at + chunk.data.length) }
    at += chunk.data.length
  }
  segment.whole = whole
  return whole
}
