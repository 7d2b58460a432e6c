// One part of a recorded stream, played at one speed: its entries so far, their files' names, and the text of the playlist.
// Everything here can be made again from its origin and the footage.

import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { Catalog } from '../archive/catalog.ts'
import { playlistEnd, writePlaylistEntry, writePlaylistHead } from '../media/hls/media-playlist.ts'
import { StreamEntries, type StreamEntry, type TimeShift } from './stream-entries.ts'
import type { ListedEnd, PartOrigin } from './stream-listing.ts'

/** Footage is looked through in steps that grow up to this, and further where there is none; in between, others get the thread. */
const firstStepMs = 2 * 60_000
const usualStepMs = 30 * 60_000
const maxStepMs = 24 * 3_600_000

/** No entry is longer, but for cameras of less than a frame a second. */
const usualTargetSeconds = 8

export type StreamFootage = Pick<Catalog, 'listSegments' | 'bounds' | 'onFragment'>

/** What the address of a file means. */
export type StreamFile =
  /** A file of the archive, moved in time. */
  | { readonly kind: 'segment'; readonly segmentId: number; readonly shift: TimeShift }
  /** The initialization section of a file, or of its pictures alone. `standIn`: has the same, should the file be gone. */
  | {
      readonly kind: 'init'
      readonly segmentId: number
      readonly standIn: number | undefined
      readonly isOfPictures: boolean
    }
  /** Key frames of an entry. */
  | { readonly kind: 'pictures'; readonly entry: StreamEntry; readonly speed: number; readonly sequence: number }

export class StreamPart {
  readonly entries: StreamEntries
  #origin: PartOrigin
  /** Number of the first entry of each file. */
  readonly #firstOf = new Map<number, number>()
  #text = ''
  /** Where the text of each entry ends. */
  #textEnds: number[] = []
  #targetSeconds = usualTargetSeconds

  /** `endMs` undefined: without end. */
  constructor(origin: PartOrigin, endMs: number | undefined) {
    this.#origin = origin
    this.entries = new StreamEntries(origin, endMs)
  }

  /** As it is after what has been dropped. */
  get origin(): PartOrigin {
    return this.#origin
  }

  /** Number of the entry that will be next. */
  get endSequence(): number {
    return this.#origin.sequence + this.entries.entries.length
  }

  /** Footage up to the end of the last entry, without gaps. */
  get end90k(): number {
    const last = this.entries.entries.at(-1)
    return last ? last.position90k + last.duration90k : this.#origin.position90k
  }

  entryAt(sequence: number): StreamEntry | undefined {
    return this.entries.entries[sequence - this.#origin.sequence]
  }

  /** Number of the entry that holds this byte of a segment, or undefined. */
  findSequence(segmentId: number, offset: number): number | undefined {
    for (let at = this.#firstOf.get(segmentId) ?? this.endSequence; at < this.endSequence; at++) {
      const entry = this.entryAt(at)!
      if (entry.segmentId !== segmentId) return undefined
      if (offset >= entry.offset && offset < entry.offset + entry.bytes) return at
    }
    return undefined
  }

  /** Number of the last entry that begins at this moment or before, or undefined. Unix milliseconds. */
  findMoment(ms: number): number | undefined {
    const index = this.entries.entries.findLastIndex(({ startMs }) => startMs <= ms)
    return index < 0 ? undefined : this.#origin.sequence + index
  }

  /** Undefined for the name of a file that is not of this part (so far). */
  findFile(name: string): StreamFile | undefined {
    const { part, speed } = this.#origin
    const [, id, ofPart = '0'] = /^(\d{1,15})(?:\.(\d{1,15}))?\.mp4$/.exec(name) ?? []
    const segmentId = Number(id)
    const shift = id !== undefined && Number(ofPart) === part ? this.entries.findShift(segmentId) : undefined
    if (shift && speed === 1) return { kind: 'segment', segmentId, shift }
    const standIn = this.entries.entries[0]?.segmentId
    const isMap = (id: number) => id === this.#origin.map?.segmentId
    if (speed === 1)
      return Number(ofPart) === part && isMap(segmentId)
        ? { kind: 'init', segmentId, standIn, isOfPictures: false }
        : undefined
    const initOf = Number(/^init-(\d{1,15})\.mp4$/.exec(name)?.[1] ?? Number.NaN)
    if (isMap(initOf)) return { kind: 'init', segmentId: initOf, standIn, isOfPictures: true }
    if (this.entries.findShift(initOf))
      return { kind: 'init', segmentId: initOf, standIn: undefined, isOfPictures: true }
    const sequence = Number(/^pictures-(\d{1,15})\.mp4$/.exec(name)?.[1] ?? Number.NaN)
    const entry = this.entryAt(sequence)
    return entry && { kind: 'pictures', entry, speed, sequence }
  }

  /** Takes in footage until there is enough of it, or no more. True when there is no more. */
  async takeIn(
    footage: StreamFootage,
    cameraId: number,
    bounds: { readonly startMs: number; readonly endMs: number },
    isEnough: () => boolean,
  ): Promise<boolean> {
    const { entries } = this
    let stepMs = firstStepMs
    let fromMs = Math.max(entries.cursorMs, bounds.startMs)
    while (fromMs < bounds.endMs && !entries.isFinished) {
      if (isEnough()) return false
      const toMs = Math.min(fromMs + stepMs, bounds.endMs)
      const segments = await footage.listSegments(cameraId, fromMs, toMs)
      for (const segment of segments) entries.add(segment)
      this.#writeTexts()
      const limitMs = segments.length === 0 ? maxStepMs : usualStepMs
      stepMs = Math.min(2 * stepMs, limitMs)
      fromMs = toMs
      if (toMs < bounds.endMs) await yieldToOthers()
    }
    return true
  }

  finish(): void {
    this.entries.finish()
    this.#writeTexts()
  }

  /** Entries before this number leave the playlist. */
  drop(sequence: number): void {
    const count = Math.min(sequence - this.#origin.sequence, this.entries.entries.length - 1)
    if (count <= 0) return
    const { entries } = this.entries
    const first = entries[count]!
    const { runBase90k, shift90k } = this.entries.findShift(first.segmentId)!
    // Where another section began to hold last.
    const begin = entries.slice(0, count + 1).findLastIndex(({ isDiscontinuity }) => isDiscontinuity)
    const map = begin > 0 || !this.#origin.map ? ownMap(entries[Math.max(0, begin)]!) : this.#origin.map
    this.#origin = {
      ...this.#origin,
      startMs: first.startMs,
      sequence: this.#origin.sequence + count,
      discontinuities: this.#origin.discontinuities + countDiscontinuities(entries.slice(0, count)),
      position90k: first.position90k,
      axis90k: first.axis90k,
      isDiscontinuity: first.isDiscontinuity,
      shortEntries: 0,
      place: { segmentId: first.segmentId, offset: first.offset, runBase90k, shift90k },
      map,
    }
    for (const { segmentId } of entries.slice(0, count)) this.#firstOf.delete(segmentId)
    this.entries.drop(count)
    this.#firstOf.set(first.segmentId, this.#origin.sequence)
    // The first entry alone is written another way, with what held before it.
    const head = this.#writeText(first, this.#origin.sequence, true)
    const cut = this.#textEnds[count]!
    this.#text = head + this.#text.slice(cut)
    this.#textEnds = this.#textEnds.slice(count).map((end) => end - cut + head.length)
  }

  /** What would follow the entries before this number. */
  endAt(sequence: number): ListedEnd {
    const { discontinuities, axis90k, position90k, sequence: first } = this.#origin
    const before = this.entries.entries.slice(0, sequence - first)
    const last = before.at(-1)
    return {
      sequence,
      discontinuities: discontinuities + countDiscontinuities(before),
      axis90k: last ? last.axis90k + last.shown90k : axis90k,
      position90k: last ? last.position90k + last.duration90k : position90k,
    }
  }

  /** With the entries before this number, and the end of the playlist if that is all. `type`: see `PlaylistHead`. */
  playlist(endSequence: number, type: 'EVENT' | 'VOD' | undefined): string {
    const { sequence, discontinuities } = this.#origin
    const head = writePlaylistHead({
      targetDurationSeconds: this.#targetSeconds,
      ...(type && { type }),
      mediaSequence: sequence,
      discontinuitySequence: discontinuities,
      startsAtFirstEntry: type !== 'VOD',
    })
    const isWhole = endSequence >= this.endSequence
    const text = isWhole ? this.#text : this.#text.slice(0, this.#textEnds[endSequence - sequence - 1] ?? 0)
    return head + text + (isWhole && this.entries.isFinished ? playlistEnd : '')
  }

  #writeTexts(): void {
    const { entries } = this.entries
    for (let i = this.#textEnds.length; i < entries.length; i++) {
      const entry = entries[i]!
      const sequence = this.#origin.sequence + i
      if (!this.#firstOf.has(entry.segmentId)) this.#firstOf.set(entry.segmentId, sequence)
      this.#targetSeconds = Math.max(this.#targetSeconds, Math.round(entry.shown90k / 90_000))
      this.#text += this.#writeText(entry, sequence, i === 0)
      this.#textEnds.push(this.#text.length)
    }
  }

  #writeText(entry: StreamEntry, sequence: number, isFirst: boolean): string {
    const { speed, part } = this.#origin
    const { segmentId, bytes, offset, startMs, isDiscontinuity, isFirstOfSegment, shown90k } = entry
    const isRecorded = speed === 1
    const nameOf = (id: number) => (part === 0 ? `${id}.mp4` : `${id}.${part}.mp4`)
    // The same as before for what was listed with it: a player has it already, or asks for it when its entry has left.
    const map = (isFirst ? this.#origin.map : undefined) ?? ownMap(entry)
    return writePlaylistEntry({
      uri: isRecorded ? nameOf(segmentId) : `pictures-${sequence}.mp4`,
      durationSeconds: shown90k / 90_000,
      isDiscontinuity,
      ...(isRecorded && { byteRange: { bytes, offset } }),
      // At the speed of time once a minute is enough for a player to know the time of every frame, and keeps long playlists short.
      ...((isFirst || isFirstOfSegment || !isRecorded) && { programDateMs: startMs }),
      ...((isFirst || isDiscontinuity) && {
        map: isRecorded
          ? { uri: nameOf(map.segmentId), byteRange: { bytes: map.initBytes, offset: 0 } }
          : { uri: `init-${map.segmentId}.mp4` },
      }),
    })
  }
}

function ownMap({ segmentId, initBytes }: StreamEntry): { readonly segmentId: number; readonly initBytes: number } {
  return { segmentId, initBytes }
}

function countDiscontinuities(entries: readonly StreamEntry[]): number {
  return entries.filter(({ isDiscontinuity }) => isDiscontinuity).length
}
