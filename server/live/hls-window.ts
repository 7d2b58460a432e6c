// Keeps the newest live HLS segments of one camera in memory and lists them in a sliding playlist. RFC 8216 6.2.2.
//
// A segment begins with a key frame and ends with a group of pictures once it is long enough. A group that exceeds the
// maximum segment duration, or the target duration of the first playlist, is split; the list still begins at a key
// frame. A segment that has left the list stays readable for a while, for players that read the playlist just before.

import type { ByteBudget } from '../base/byte-budget.ts'
import { writePlaylistEntry, writePlaylistHead } from '../media/hls/media-playlist.ts'
import type { LiveChunk } from './live-chunk.ts'

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
  parts: Uint8Array[]
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

  /** The media playlist. `urlOf` returns the URL of a segment or initialization section by its name. */
  playlist(urlOf: (name: string) => string): string {
    this.#isPublished = true
    const segments = this.#listed()
    const isIndependent = segments.every(({ isKey }) => isKey)
    let text = writePlaylistHead({
      targetDurationSeconds: this.#targetDurationS,
      mediaSequence: this.#firstListed,
      discontinuitySequence: this.#discontinuities,
      isIndependent,
      start: isIndependent ? undefined : { secondsBeforeEnd: this.#startBeforeEndMs(segments) / 1000 },
    })
    let init: Init | undefined
    for (const segment of segments) {
      const { isDiscontinuity, durationMs, wallMs } = segment
      text += writePlaylistEntry({
        uri: urlOf(segment.name),
        durationSeconds: durationMs / 1000,
        programDateMs: wallMs,
        isDiscontinuity,
        ...((isDiscontinuity || segment.init !== init) && { map: { uri: urlOf(segment.init.name) } }),
      })
      init = segment.init
    }
    return text
  }

  /** The bytes of a segment or initialization section, or undefined if there is none with this name. */
  find(name: string): Uint8Array | undefined {
    for (const segment of this.#segments) {
      if (segment.init.name === name) return segment.init.data
      if (segment.name !== name) continue
      if (segment.parts.length > 1) segment.parts = [concat(segment.parts, segment.bytes)]
      return segment.parts[0]
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
        parts: [],
      }
    }
    const open = this.#open
    open.durationMs += chunk.durationMs
    open.bytes += chunk.data.length
    open.parts.push(chunk.data)
    this.#hold(chunk.data.length)
    while (this.#isOver && this.#segments.length > 0) this.#dropFirst()
    if (open.bytes > maxSegmentBytes || this.#isOver) {
      this.#letGo(open.bytes)
      this.#open = undefined
      this.#isContinuing = false
      this.#isDiscontinuity = true
    } else if (chunk.endsGroup && open.durationMs >= minSegmentMs) this.#closeSegment()
  }

  /**
   * Whether a segment exceeds the published target duration. A chunk that is too long by itself is listed nevertheless and
   * raises the target.
   */
  #isTooLong(ms: number): boolean {
    return this.#isPublished && Math.round(ms / 1000) > this.#targetDurationS
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
   * once.
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
    return startMs
  }
}

function sumDurations(segments: readonly Segment[]): number {
  return segments.reduce((sum, { durationMs }) => sum + durationMs, 0)
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}

function concat(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const out = new Uint8Array(bytes)
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}
