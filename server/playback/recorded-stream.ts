// A recorded stream in memory: the part that it plays, the entries that the playlist has listed, and the most recently
// fetched entry. Everything here can be created again from the row and the footage, so idle streams are removed from
// memory.

import type { Clock } from '../base/clock.ts'
import { pause } from '../base/pause.ts'
import { SingleFlight } from '../base/single-flight.ts'
import type { FootageBounds } from '../model/segment-views.ts'
import { findRemainingOrigin } from './remaining-listing.ts'
import { initialShortEntries, runGap90k } from './stream-entries.ts'
import { type ListedEnd, type PartOrigin, parseListing, type StreamListing, writeListing } from './stream-listing.ts'
import { type StreamFile, type StreamFootage, StreamPart } from './stream-part.ts'
import type { StreamRow } from './stream-rows.ts'

/** Footage is in the index at most this long after it was recorded. */
const settlingMs = 10_000

/** Ranges up to this long are listed completely: a day, including the longest day of a year. */
const maxWholeMs = 25 * 3_600_000

/** For longer ranges, the playlist lists this much footage after and before the most recently fetched entry. */
const ahead90k = 3600 * 90_000
const behind90k = 2 * 3600 * 90_000
/** Entries are removed at the front in steps of this length. */
const dropStep90k = 1800 * 90_000

/**
 * Number of entries that are listed before any is fetched. Players that start three entries before the end then start
 * with the first one.
 */
const firstEntries = 3

export type FoundFile = StreamFile & { readonly part: StreamPart }

export class RecordedStream {
  readonly #footage: StreamFootage
  readonly #row: Pick<StreamRow, 'cameraId' | 'startMs' | 'endMs' | 'createdAtMs'>
  #part: StreamPart
  /** The part before the last change of speed, whose files a player may still request. */
  #previousPart: StreamPart | undefined
  #listed: ListedEnd
  /** End of the furthest entry of the part that was fetched. */
  #fetched90k: number | undefined
  /** Number of the entry of the part that was fetched last. */
  #fetchedSequence: number | undefined
  /**
   * The stored listing of an earlier process or before the stream was removed from memory, until it is known whether
   * its first entry still exists.
   */
  #storedListing: StreamListing | undefined
  /** Numbers of the first listed entry and of the one after the last, as they were last stored. */
  #storedRange = ''
  readonly #updating = new SingleFlight<void>()

  constructor(footage: StreamFootage, row: StreamRow) {
    this.#footage = footage
    this.#row = row
    const stored = row.listing === undefined ? undefined : parseListing(row.listing)
    const origin = stored?.origin ?? createOrigin(row)
    this.#part = createPart(origin, row)
    this.#listed = stored?.listed ?? this.#part.endAt(origin.sequence)
    this.#storedListing = stored
  }

  get part(): StreamPart {
    return this.#part
  }

  /** Number of entries in memory. */
  get entries(): number {
    return this.#part.entries.entries.length + (this.#previousPart?.entries.entries.length ?? 0)
  }

  get #isWhole(): boolean {
    const { startMs, endMs } = this.#row
    return endMs !== undefined && endMs - startMs <= maxWholeMs
  }

  /**
   * Adds footage that was recorded since the last update, as far as it may be listed. Without `isGrowing`, nothing more
   * will be recorded. Concurrent calls share the work. `currentMs` is the start of the most recently fetched entry.
   */
  async update(nowMs: number, isGrowing: boolean, currentMs: number | undefined): Promise<void> {
    await this.#updating.run(() => this.#update(nowMs, isGrowing, currentMs))
  }

  /** Resolves when there is new footage, or after `timeoutMs`. */
  async waitForFootage(clock: Clock, timeoutMs: number): Promise<void> {
    const wait = new AbortController()
    const stop = this.#footage.onFragment(this.#row.cameraId, () => wait.abort())
    await pause(clock, timeoutMs, wait.signal)
    stop()
  }

  /**
   * Returns the playlist with all entries that may be listed now. If `changed` is not undefined, it must be stored in
   * the row before a player sees the playlist. While `isPaused`, only the entries that a player needs to start are
   * added.
   */
  list(isPaused: boolean): { readonly playlist: string; readonly changed: string | undefined } {
    const part = this.#part
    const minEnd = Math.min(part.endSequence, part.origin.sequence + firstEntries)
    const end = isPaused ? minEnd : this.#findListableEnd(minEnd)
    if (end > this.#listed.sequence) this.#listed = part.endAt(end)
    if (!isPaused && !this.#isWhole) this.#dropBehind()
    const range = `${part.origin.sequence} ${this.#listed.sequence}`
    const isStored = range === this.#storedRange
    this.#storedRange = range
    return {
      playlist: part.playlist(this.#listed.sequence, this.#type),
      changed: isStored ? undefined : this.write(),
    }
  }

  /** Returns the listing to be stored in the row. */
  write(): string {
    const part = this.#part
    const { origin } = part
    const listed = this.#listed
    const first = part.entryAt(origin.sequence)
    const run = first && part.entries.findShift(first.segmentId)
    const last = part.entryAt(listed.sequence - 1)
    return writeListing({
      origin,
      listed,
      firstMs: first?.startMs,
      last: last && { segmentId: last.segmentId, offset: last.offset },
      map: origin.map ?? (first && { segmentId: first.segmentId, initBytes: first.initBytes }),
      run: run && { runBase90k: run.runBase90k, shift90k: run.shift90k },
      short: findShortBegin(part),
    })
  }

  /** Returns undefined for a file that is not part of the stream, or not yet. */
  findFile(name: string): FoundFile | undefined {
    for (const part of [this.#part, this.#previousPart]) {
      const file = part?.findFile(name)
      if (part && file) return { ...file, part }
    }
    return undefined
  }

  /** Reports that this entry was fetched. */
  noteFetch(part: StreamPart, sequence: number): void {
    const entry = part.entryAt(sequence)
    if (!entry || part !== this.#part) return
    this.#fetchedSequence = sequence
    this.#fetched90k = Math.max(this.#fetched90k ?? 0, entry.position90k + entry.duration90k)
  }

  /**
   * Plays everything after the most recently fetched entry at this speed. Entries that were listed but not fetched are
   * removed from the playlist.
   */
  changeSpeed(speed: number, currentMs: number | undefined): void {
    const part = this.#part
    const sequence = currentMs === undefined ? undefined : this.findCurrentSequence(currentMs)
    const last = sequence === undefined ? undefined : part.entryAt(sequence)
    if (sequence === undefined || !last) {
      this.#startPart({ ...part.origin, speed })
      return
    }
    const next = part.entryAt(sequence + 1)
    // Players reject an empty playlist, so at the very end the last entry is played again.
    if (!next && part.entries.isFinished) {
      this.#startPart({ startMs: last.startMs, epoch: last.epoch, speed, position90k: last.position90k })
      return
    }
    const startMs = next?.startMs ?? last.startMs + last.durationMs
    const { epoch } = next ?? last
    this.#startPart({ startMs, epoch, speed, position90k: last.position90k + last.duration90k })
  }

  /**
   * Returns the number of the entry that was fetched last and starts at `currentMs`. After a restart, only the time
   * identifies it.
   */
  findCurrentSequence(currentMs: number): number | undefined {
    const sequence = this.#fetchedSequence
    const isSame = sequence !== undefined && this.#part.entryAt(sequence)?.startMs === currentMs
    return isSame ? sequence : this.#part.findMoment(currentMs)
  }

  #startPart({
    startMs,
    epoch,
    speed,
    position90k,
  }: Pick<PartOrigin, 'startMs' | 'epoch' | 'speed' | 'position90k'>): void {
    const { sequence, discontinuities, axis90k } = this.#listed
    const { hasAudio } = this.#part.origin
    const isFirst = sequence === 0
    this.#previousPart = this.#part
    const origin: PartOrigin = {
      startMs,
      epoch,
      speed,
      part: this.#part.origin.part + (isFirst ? 0 : 1),
      sequence,
      discontinuities,
      position90k,
      axis90k: isFirst ? 0 : Math.ceil(axis90k) + runGap90k,
      isDiscontinuity: !isFirst,
      ...(hasAudio !== undefined && { hasAudio }),
      shortEntries: initialShortEntries(speed),
    }
    this.#part = createPart(origin, this.#row)
    this.#listed = this.#part.endAt(sequence)
    this.#fetched90k = undefined
    this.#fetchedSequence = undefined
    this.#storedListing = undefined
  }

  /** Returns the number of the entry up to which the playlist may list now. */
  #findListableEnd(minEnd: number): number {
    const { endSequence } = this.#part
    if (this.#isWhole) return endSequence
    if (this.#fetched90k === undefined) return minEnd
    const until90k = this.#fetched90k + ahead90k
    let end = Math.max(minEnd, this.#listed.sequence)
    while (end < endSequence && this.#part.entryAt(end)!.position90k < until90k) end++
    return end
  }

  get #type(): 'EVENT' | 'VOD' | undefined {
    const { createdAtMs, endMs } = this.#row
    const { part, sequence } = this.#part.origin
    if (!this.#isWhole || part > 0 || sequence > 0) return undefined
    return endMs! + settlingMs <= createdAtMs ? 'VOD' : 'EVENT'
  }

  /** Removes entries far behind the player from the front of the playlist. */
  #dropBehind(): void {
    const { origin } = this.#part
    if (this.#fetched90k === undefined || this.#fetched90k - origin.position90k < behind90k + dropStep90k) return
    const from90k = this.#fetched90k - behind90k
    let sequence = origin.sequence
    while (sequence + firstEntries < this.#listed.sequence && this.#part.entryAt(sequence)!.position90k < from90k)
      sequence++
    this.#part.drop(sequence)
  }

  async #update(nowMs: number, isGrowing: boolean, currentMs: number | undefined): Promise<void> {
    const bounds = await this.#footage.bounds(this.#row.cameraId)
    await this.#addFootage(bounds, nowMs, isGrowing)
    const first = this.#part.entries.entries[0]
    const stored = this.#storedListing
    if (stored?.firstMs !== undefined && first?.startMs !== stored.firstMs) {
      // The first entry was deleted while the stream was not in memory.
      await this.#resume(stored, bounds, currentMs)
      await this.#addFootage(bounds, nowMs, isGrowing)
    }
    this.#storedListing = undefined
    if (this.#fetched90k === undefined && currentMs !== undefined) {
      // The player fetched this entry from an earlier process. It may have fetched everything that was listed and wait
      // for more.
      const sequence = this.#part.findMoment(currentMs)
      if (sequence !== undefined) {
        this.noteFetch(this.#part, sequence)
        await this.#addFootage(bounds, nowMs, isGrowing)
      }
    }
    if (bounds && this.#dropDeleted(bounds)) await this.#addFootage(bounds, nowMs, isGrowing)
  }

  /** Continues with the remaining listed entries, or after the listed footage when none remain. */
  async #resume(
    stored: StreamListing,
    bounds: FootageBounds | undefined,
    currentMs: number | undefined,
  ): Promise<void> {
    const { cameraId, endMs } = this.#row
    const origin =
      bounds &&
      (await findRemainingOrigin(
        stored,
        (origin) => createPart(origin, this.#row),
        (part, isEnough) => part.addFootage(this.#footage, cameraId, clip(bounds, endMs), isEnough),
      ))
    if (origin) this.#part = createPart(origin, this.#row)
    else {
      const { startMs, epoch, speed, position90k } = this.#part.origin
      this.#startPart({ startMs: currentMs ?? startMs, epoch, speed, position90k })
    }
  }

  async #addFootage(bounds: FootageBounds | undefined, nowMs: number, isGrowing: boolean): Promise<void> {
    const { cameraId, endMs } = this.#row
    const part = this.#part
    const isAll =
      !bounds || (await part.addFootage(this.#footage, cameraId, clip(bounds, endMs), () => this.#hasEnough(part)))
    if (isAll && (!isGrowing || (endMs !== undefined && nowMs >= endMs + settlingMs))) part.finish()
  }

  #hasEnough(part: StreamPart): boolean {
    // The speed was changed in the meantime, so this part needs no more entries.
    if (part !== this.#part) return true
    if (this.#isWhole) return false
    const { endSequence, origin } = part
    if (endSequence < Math.max(this.#listed.sequence, origin.sequence + firstEntries)) return false
    return this.#fetched90k === undefined || part.end90k >= this.#fetched90k + ahead90k
  }

  /** Removes entries at the front that retention has deleted. */
  #dropDeleted({ startMs, oldest = { epoch: 0, startMs } }: FootageBounds): boolean {
    let sequence = this.#part.origin.sequence
    for (; sequence < this.#part.endSequence; sequence++) {
      const entry = this.#part.entryAt(sequence)!
      const isEarlier = entry.epoch === oldest.epoch && entry.startMs + entry.durationMs <= oldest.startMs
      if (entry.epoch >= oldest.epoch && !isEarlier) break
    }
    if (sequence === this.#part.origin.sequence) return false
    this.#part.drop(sequence)
    if (this.#listed.sequence < sequence) this.#listed = this.#part.endAt(sequence)
    return true
  }
}

/** Returns the listing of a new stream, to be stored in its row. For `known`, see `EntriesOrigin`. */
export function createListing(
  row: Pick<StreamRow, 'startMs' | 'speed'>,
  known: Pick<PartOrigin, 'hasAudio' | 'epoch'>,
): string {
  const listed = { sequence: 0, discontinuities: 0, axis90k: 0, position90k: 0 }
  return writeListing({ origin: { ...createOrigin(row), ...known }, listed, firstMs: undefined })
}

function clip(bounds: FootageBounds, lastMs = Number.POSITIVE_INFINITY): FootageBounds {
  return { ...bounds, endMs: Math.min(bounds.endMs, lastMs) }
}

/**
 * Footage that was recorded more than once in the range plays each time. Without an end, everything that was recorded
 * later plays.
 */
function createPart(origin: PartOrigin, { startMs, endMs }: Pick<StreamRow, 'startMs' | 'endMs'>): StreamPart {
  return new StreamPart(origin, endMs, endMs === undefined ? undefined : startMs)
}

/**
 * Returns the short entries at the beginning that lie in the second file of the stream because its first one was nearly
 * over.
 */
function findShortBegin(part: StreamPart): StreamListing['short'] {
  const { sequence, shortEntries } = part.origin
  const begin = Array.from({ length: shortEntries }, (_, i) => part.entryAt(sequence + i)?.segmentId)
  const [first] = begin
  const segmentId = begin.find((id) => id !== undefined && id !== first)
  return segmentId === undefined ? undefined : { segmentId, entries: begin.filter((id) => id === segmentId).length }
}

function createOrigin({ startMs, speed }: Pick<StreamRow, 'startMs' | 'speed'>): PartOrigin {
  return {
    startMs,
    speed,
    part: 0,
    sequence: 0,
    discontinuities: 0,
    position90k: 0,
    axis90k: 0,
    isDiscontinuity: false,
    shortEntries: initialShortEntries(speed),
  }
}
