// One part of a recorded stream, played at one speed: its entries so far, the names of their files, and the text of the
// playlist. Everything here can be created again from its origin and the footage.

import { setImmediate as yieldThread } from 'node:timers/promises'
import type { Catalog } from '../archive/catalog.ts'
import { playlistEnd, writePlaylistEntry, writePlaylistHead } from '../media/hls/media-playlist.ts'
import type { FootageBounds } from '../model/segment-views.ts'
import { StreamEntries, type StreamEntry } from './stream-entries.ts'
import type { ListedEnd, PartOrigin } from './stream-listing.ts'
import type { TimeShift } from './time-shift.ts'

/**
 * Footage is searched in steps that grow up to this, and further where there is none. Other work on the thread runs
 * between the steps.
 */
const firstStepMs = 2 * 60_000
const normalStepMs = 30 * 60_000
const maxStepMs = 24 * 3_600_000

/** No entry is longer, except for cameras with less than one frame per second. */
const defaultTargetSeconds = 8

/**
 * An entry gets a new date when its wall clock differs by more than this from the date that follows from the durations.
 */
const maxDateErrorMs = 100

/** Names of files that are written on request. They are part of URLs, so they must not change. */
const silentName = 'silent'
const keyFramesName = 'pictures'
const writtenFile = new RegExp(`^(${silentName}|${keyFramesName})-(\\d{1,15})\\.mp4$`)

export type StreamFootage = Pick<Catalog, 'listSegments' | 'bounds' | 'onFragment'>

/** The content of a file that the playlist names. */
export type StreamFile =
  /** A file of the archive with shifted times, with `hidesAudio` without its audio. */
  | { readonly kind: 'segment'; readonly segmentId: number; readonly shift: TimeShift; readonly hidesAudio: boolean }
  /** An entry of a file without audio, with shifted times and silence. */
  | { readonly kind: 'silent'; readonly entry: StreamEntry; readonly shift: TimeShift; readonly sequence: number }
  /**
   * The initialization section of a file: complete, only its video, or its video with a silent track. If the file is
   * gone, `fallbackSegmentId` has the same content.
   */
  | {
      readonly kind: 'init'
      readonly segmentId: number
      readonly fallbackSegmentId: number | undefined
      readonly tracks: 'all' | 'video' | 'video_and_silence'
    }
  /** The key frames of an entry. */
  | { readonly kind: 'key_frames'; readonly entry: StreamEntry; readonly speed: number; readonly sequence: number }

export class StreamPart {
  readonly entries: StreamEntries
  #origin: PartOrigin
  /** Number of the first entry of each file. */
  readonly #firstSequences = new Map<number, number>()
  #text = ''
  /** Where the text of each entry ends. */
  #textEnds: number[] = []
  #targetSeconds = defaultTargetSeconds
  /** Wall clock of the next entry, as it follows from the durations since the last date. */
  #nextDateMs = Number.NaN

  /** See `StreamEntries`. */
  constructor(origin: PartOrigin, endMs: number | undefined, rangeStartMs?: number) {
    this.#origin = origin
    this.entries = new StreamEntries(origin, endMs, rangeStartMs)
  }

  /** The origin after entries have been dropped. */
  get origin(): PartOrigin {
    return this.#origin
  }

  /** Number of the next entry. */
  get endSequence(): number {
    return this.#origin.sequence + this.entries.entries.length
  }

  /** Duration of the footage up to the end of the last entry, without gaps. */
  get end90k(): number {
    const last = this.entries.entries.at(-1)
    return last ? last.position90k + last.duration90k : this.#origin.position90k
  }

  entryAt(sequence: number): StreamEntry | undefined {
    return this.entries.entries[sequence - this.#origin.sequence]
  }

  /** Returns the number of the entry that contains this byte of a segment, or undefined. */
  findSequence(segmentId: number, offset: number): number | undefined {
    for (let at = this.#firstSequences.get(segmentId) ?? this.endSequence; at < this.endSequence; at++) {
      const entry = this.entryAt(at)!
      if (entry.segmentId !== segmentId) return undefined
      if (offset >= entry.offset && offset < entry.offset + entry.bytes) return at
    }
    return undefined
  }

  /** Returns the number of the last entry that begins at or before this moment, or undefined. Unix milliseconds. */
  findMoment(ms: number): number | undefined {
    const index = this.entries.entries.findLastIndex(({ startMs }) => startMs <= ms)
    return index < 0 ? undefined : this.#origin.sequence + index
  }

  /** Returns undefined for a file that is not part of this part, or not yet. */
  findFile(name: string): StreamFile | undefined {
    const { part, speed, hasAudio } = this.#origin
    const [, id, ofPart = '0'] = /^(\d{1,15})(?:\.(\d{1,15}))?\.mp4$/.exec(name) ?? []
    const segmentId = Number(id)
    const shift = id !== undefined && Number(ofPart) === part ? this.entries.findShift(segmentId) : undefined
    if (shift && speed === 1) return { kind: 'segment', segmentId, shift, hidesAudio: hasAudio === false }
    const fallbackSegmentId = this.entries.entries[0]?.segmentId
    const isMap = (id: number) => id === this.#origin.map?.segmentId
    if (speed === 1 && Number(ofPart) === part && isMap(segmentId))
      return { kind: 'init', segmentId, fallbackSegmentId, tracks: 'all' }
    const [, silent, init] = /^init-(silent-)?(\d{1,15})\.mp4$/.exec(name) ?? []
    const initOf = Number(init ?? Number.NaN)
    const tracks = silent === undefined ? 'video' : 'video_and_silence'
    if (isMap(initOf)) return { kind: 'init', segmentId: initOf, fallbackSegmentId, tracks }
    if (this.entries.findShift(initOf)) return { kind: 'init', segmentId: initOf, fallbackSegmentId: undefined, tracks }
    const [, kind, number] = writtenFile.exec(name) ?? []
    const sequence = Number(number ?? Number.NaN)
    const entry = this.entryAt(sequence)
    if (!entry || (kind === silentName) !== (speed === 1)) return undefined
    if (kind === keyFramesName) return { kind: 'key_frames', entry, speed, sequence }
    const entryShift = this.entries.findShift(entry.segmentId)
    return entryShift && { kind: 'silent', entry, shift: entryShift, sequence }
  }

  /** Adds footage until there is enough or no more. Returns true when there is no more. */
  async addFootage(
    footage: StreamFootage,
    cameraId: number,
    bounds: Pick<FootageBounds, 'startMs' | 'endMs' | 'newest'>,
    isEnough: () => boolean,
  ): Promise<boolean> {
    const { entries } = this
    const lastEpoch = bounds.newest?.epoch ?? 0
    while (await this.#addEpoch(footage, cameraId, { ...bounds, isLast: entries.epoch >= lastEpoch }, isEnough)) {
      if (entries.epoch >= lastEpoch || entries.isFinished) return true
      entries.nextEpoch()
      this.#writeTexts()
    }
    return false
  }

  async #addEpoch(
    footage: StreamFootage,
    cameraId: number,
    { startMs, endMs, isLast }: { readonly startMs: number; readonly endMs: number; readonly isLast: boolean },
    isEnough: () => boolean,
  ): Promise<boolean> {
    const { entries } = this
    let stepMs = firstStepMs
    let fromMs = Math.max(entries.cursorMs, startMs)
    while (fromMs < endMs && !entries.isFinished && !entries.isEpochDone) {
      if (isEnough()) return false
      const toMs = Math.min(fromMs + stepMs, endMs)
      const segments = await footage.listSegments(cameraId, fromMs, toMs)
      for (const segment of segments) entries.add(segment, isLast)
      this.#writeTexts()
      const limitMs = segments.length === 0 ? maxStepMs : normalStepMs
      stepMs = Math.min(2 * stepMs, limitMs)
      fromMs = toMs
      if (toMs < endMs) await yieldThread()
    }
    return true
  }

  finish(): void {
    this.entries.finish()
    this.#writeTexts()
  }

  /** Removes the entries before this number from the playlist. */
  drop(sequence: number): void {
    const count = Math.min(sequence - this.#origin.sequence, this.entries.entries.length - 1)
    if (count <= 0) return
    const { entries } = this.entries
    const first = entries[count]!
    const { runBase90k, shift90k } = this.entries.findShift(first.segmentId)!
    // Where the current initialization section began to apply.
    const begin = entries.slice(0, count + 1).findLastIndex(({ isDiscontinuity }) => isDiscontinuity)
    const map = begin > 0 || !this.#origin.map ? ownMap(entries[Math.max(0, begin)]!) : this.#origin.map
    this.#origin = {
      ...this.#origin,
      startMs: first.startMs,
      epoch: first.epoch,
      sequence: this.#origin.sequence + count,
      discontinuities: this.#origin.discontinuities + countDiscontinuities(entries.slice(0, count)),
      position90k: first.position90k,
      axis90k: first.axis90k,
      isDiscontinuity: first.isDiscontinuity,
      shortEntries: 0,
      place: { segmentId: first.segmentId, offset: first.offset, runBase90k, shift90k },
      map,
    }
    for (const { segmentId } of entries.slice(0, count)) this.#firstSequences.delete(segmentId)
    this.entries.drop(count)
    this.#firstSequences.set(first.segmentId, this.#origin.sequence)
    // Only the first entry is written differently, with the initialization section that applied before it.
    const head = this.#writeText(first, this.#origin.sequence, { isFirst: true, isDated: true })
    const cut = this.#textEnds[count]!
    this.#text = head + this.#text.slice(cut)
    this.#textEnds = this.#textEnds.slice(count).map((end) => end - cut + head.length)
  }

  /** Returns the end of the entries before this number. */
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

  /**
   * Returns the playlist with the entries before this number, and its end tag if that is all. For `type`, see
   * `PlaylistHead`.
   */
  playlist(endSequence: number, type: 'EVENT' | 'VOD' | undefined): string {
    const { sequence, discontinuities } = this.#origin
    const head = writePlaylistHead({
      targetDurationSeconds: this.#targetSeconds,
      ...(type && { type }),
      mediaSequence: sequence,
      discontinuitySequence: discontinuities > 0 ? discontinuities : undefined,
      start: type === 'VOD' ? undefined : 'first_entry',
    })
    const isWhole = endSequence >= this.endSequence
    const text = isWhole ? this.#text : this.#text.slice(0, this.#textEnds[endSequence - sequence - 1] ?? 0)
    return head + text + (isWhole && this.entries.isFinished ? playlistEnd : '')
  }

  #writeTexts(): void {
    const { entries } = this.entries
    // Joined at once: a text that grows by each entry is a tree of strings, which takes V8 as long to collect as to build.
    const texts: string[] = []
    let length = this.#text.length
    for (let i = this.#textEnds.length; i < entries.length; i++) {
      const entry = entries[i]!
      const sequence = this.#origin.sequence + i
      if (!this.#firstSequences.has(entry.segmentId)) this.#firstSequences.set(entry.segmentId, sequence)
      this.#targetSeconds = Math.max(this.#targetSeconds, Math.round(entry.shown90k / 90_000))
      const text = this.#writeText(entry, sequence, { isFirst: i === 0, isDated: this.#needsDate(entry, i === 0) })
      texts.push(text)
      length += text.length
      this.#textEnds.push(length)
    }
    this.#text += texts.join('')
  }

  /**
   * Returns whether the entry gets a date. One date per minute is enough for a player to derive the time of every frame
   * and keeps long playlists short, unless the wall clock differs from the durations.
   */
  #needsDate(entry: StreamEntry, isFirst: boolean): boolean {
    const { startMs, isDiscontinuity, isFirstOfSegment, shown90k } = entry
    const isNew = isFirst || isFirstOfSegment || isDiscontinuity || this.#origin.speed !== 1
    const isDated = isNew || Math.abs(startMs - this.#nextDateMs) > maxDateErrorMs
    this.#nextDateMs = (isDated ? startMs : this.#nextDateMs) + shown90k / 90
    return isDated
  }

  #writeText(
    entry: StreamEntry,
    sequence: number,
    { isFirst, isDated }: { readonly isFirst: boolean; readonly isDated: boolean },
  ): string {
    const { speed, part, hasAudio = entry.hasAudio } = this.#origin
    const { segmentId, bytes, offset, startMs, isDiscontinuity, shown90k } = entry
    const isSilent = speed === 1 && hasAudio && !entry.hasAudio
    const isRecorded = speed === 1 && !isSilent
    const isInitRecorded = isRecorded && hasAudio === entry.hasAudio
    const nameOf = (id: number) => (part === 0 ? `${id}.mp4` : `${id}.${part}.mp4`)
    // Players already have the initialization section that was listed before, or request it after its entry was
    // removed.
    const map = (isFirst ? this.#origin.map : undefined) ?? ownMap(entry)
    return writePlaylistEntry({
      uri: isRecorded ? nameOf(segmentId) : `${isSilent ? silentName : keyFramesName}-${sequence}.mp4`,
      durationSeconds: shown90k / 90_000,
      isDiscontinuity,
      ...(isRecorded && { byteRange: { bytes, offset } }),
      ...(isDated && { programDateMs: startMs }),
      ...((isFirst || isDiscontinuity) && {
        map: isInitRecorded
          ? { uri: nameOf(map.segmentId), byteRange: { bytes: map.initBytes, offset: 0 } }
          : { uri: `init-${isSilent ? 'silent-' : ''}${map.segmentId}.mp4` },
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
