// One recorded stream while somebody watches it: the part it plays, how much of it the playlist has said, and what was fetched last.
// Everything here can be made again from the row and the footage, so it is dropped when nobody asks for a while.

import type { Clock } from '../base/clock.ts'
import type { FootageBounds } from '../model/segment-views.ts'
import { findRemainingOrigin } from './remaining-listing.ts'
import { runGap90k, shortEntriesAtBegin } from './stream-entries.ts'
import { type ListedEnd, type PartOrigin, parseListing, type StreamListing, writeListing } from './stream-listing.ts'
import { type StreamFile, type StreamFootage, StreamPart } from './stream-part.ts'
import type { StreamRow } from './stream-rows.ts'

/** Footage of a moment is on record this long after it at the latest. */
const settlingMs = 10_000

/** Of ranges up to this long the playlist says all there is: a day, also the longest of a year. */
const maxWholeMs = 25 * 3_600_000

/** Of others so much footage after, and before, what the player has fetched. */
const ahead90k = 3600 * 90_000
const behind90k = 2 * 3600 * 90_000
/** Is forgotten at once. */
const forget90k = 1800 * 90_000

/** And so much before anything was fetched: players that would begin three entries before the end begin with the first. */
const firstEntries = 3

export type FoundFile = StreamFile & { readonly part: StreamPart }

export class RecordedStream {
  readonly #footage: StreamFootage
  readonly #row: Pick<StreamRow, 'cameraId' | 'startMs' | 'endMs' | 'createdAtMs'>
  #part: StreamPart
  /** What was played before the last change of speed: a player may still be asking for it. */
  #former: StreamPart | undefined
  #listed: ListedEnd
  /** Of the part: where the entry ends that lies furthest of those that were fetched. */
  #fetched90k: number | undefined
  /** Of the part: the number of the entry that was fetched last. */
  #fetchedSequence: number | undefined
  /** What was listed before, by an earlier process or before it was forgotten, until it is known whether its beginning is still there. */
  #kept: StreamListing | undefined
  /** Numbers of the first entry and of the one after the last, as they were kept. */
  #said = ''
  #updating: Promise<void> | undefined

  constructor(footage: StreamFootage, row: StreamRow) {
    this.#footage = footage
    this.#row = row
    const kept = row.listing === undefined ? undefined : parseListing(row.listing)
    const origin = kept?.origin ?? createOrigin(row)
    this.#part = createPart(origin, row)
    this.#listed = kept?.listed ?? this.#part.endAt(origin.sequence)
    this.#kept = kept
  }

  get part(): StreamPart {
    return this.#part
  }

  /** In memory. */
  get entries(): number {
    return this.#part.entries.entries.length + (this.#former?.entries.entries.length ?? 0)
  }

  get #isWhole(): boolean {
    const { startMs, endMs } = this.#row
    return endMs !== undefined && endMs - startMs <= maxWholeMs
  }

  /**
   * Takes in what has been recorded since, as far as it may be listed. `isGrowing` false: nothing more will be recorded. Requests at the
   * same time share the work. `currentMs`: of what was fetched last.
   */
  async update(nowMs: number, isGrowing: boolean, currentMs: number | undefined): Promise<void> {
    this.#updating ??= this.#update(nowMs, isGrowing, currentMs).finally(() => {
      this.#updating = undefined
    })
    await this.#updating
  }

  /** Resolves when there is more footage, or after `timeoutMs`. */
  async waitForFootage(clock: Clock, timeoutMs: number): Promise<void> {
    const wait = new AbortController()
    const stop = this.#footage.onFragment(this.#row.cameraId, () => wait.abort())
    await clock.sleep(timeoutMs, wait.signal).catch(() => {})
    stop()
  }

  /**
   * Lists what may be listed by now, which is told in `changed` as text to be kept with the row before anyone sees the playlist. While
   * `isHeld` nothing is added, but for what a player needs to begin.
   */
  list(isHeld: boolean): { readonly playlist: string; readonly changed: string | undefined } {
    const part = this.#part
    const least = Math.min(part.endSequence, part.origin.sequence + firstEntries)
    const most = isHeld ? least : this.#findMost(least)
    if (most > this.#listed.sequence) this.#listed = part.endAt(most)
    if (!isHeld && !this.#isWhole) this.#forget()
    const said = `${part.origin.sequence} ${this.#listed.sequence}`
    const isKept = said === this.#said
    this.#said = said
    return {
      playlist: part.playlist(this.#listed.sequence, this.#type),
      changed: isKept ? undefined : this.write(),
    }
  }

  /** To be kept with the row. */
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

  /** Undefined for the name of a file that is not of the stream (so far). */
  findFile(name: string): FoundFile | undefined {
    for (const part of [this.#part, this.#former]) {
      const file = part?.findFile(name)
      if (part && file) return { ...file, part }
    }
    return undefined
  }

  /** The entry of this number was asked for. */
  noteFetch(part: StreamPart, sequence: number): void {
    const entry = part.entryAt(sequence)
    if (!entry || part !== this.#part) return
    this.#fetchedSequence = sequence
    this.#fetched90k = Math.max(this.#fetched90k ?? 0, entry.position90k + entry.duration90k)
  }

  /** What follows the entry that was fetched last plays at this speed; what was listed and not fetched leaves the playlist. */
  changeSpeed(speed: number, currentMs: number | undefined): void {
    const part = this.#part
    const sequence = currentMs === undefined ? undefined : this.findCurrent(currentMs)
    const last = sequence === undefined ? undefined : part.entryAt(sequence)
    if (sequence === undefined || !last) {
      this.#begin({ ...part.origin, speed })
      return
    }
    const next = part.entryAt(sequence + 1)
    // A playlist of nothing is an error to players: at the very end the last entry is played again.
    if (!next && part.entries.isFinished) {
      this.#begin({ startMs: last.startMs, epoch: last.epoch, speed, position90k: last.position90k })
      return
    }
    const startMs = next?.startMs ?? last.startMs + last.durationMs
    const { epoch } = next ?? last
    this.#begin({ startMs, epoch, speed, position90k: last.position90k + last.duration90k })
  }

  /** Number of the entry that was fetched last, which began at this moment; of an earlier process by the moment alone. */
  findCurrent(currentMs: number): number | undefined {
    const sequence = this.#fetchedSequence
    const isIt = sequence !== undefined && this.#part.entryAt(sequence)?.startMs === currentMs
    return isIt ? sequence : this.#part.findMoment(currentMs)
  }

  #begin({
    startMs,
    epoch,
    speed,
    position90k,
  }: Pick<PartOrigin, 'startMs' | 'epoch' | 'speed' | 'position90k'>): void {
    const { sequence, discontinuities, axis90k } = this.#listed
    const { hasAudio } = this.#part.origin
    const isFirst = sequence === 0
    this.#former = this.#part
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
      shortEntries: shortEntriesAtBegin(speed),
    }
    this.#part = createPart(origin, this.#row)
    this.#listed = this.#part.endAt(sequence)
    this.#fetched90k = undefined
    this.#fetchedSequence = undefined
    this.#kept = undefined
  }

  /** The number of the entry up to which may be listed now. */
  #findMost(least: number): number {
    const { endSequence } = this.#part
    if (this.#isWhole) return endSequence
    if (this.#fetched90k === undefined) return least
    const until90k = this.#fetched90k + ahead90k
    let most = Math.max(least, this.#listed.sequence)
    while (most < endSequence && this.#part.entryAt(most)!.position90k < until90k) most++
    return most
  }

  get #type(): 'EVENT' | 'VOD' | undefined {
    const { createdAtMs, endMs } = this.#row
    const { part, sequence } = this.#part.origin
    if (!this.#isWhole || part > 0 || sequence > 0) return undefined
    return endMs! + settlingMs <= createdAtMs ? 'VOD' : 'EVENT'
  }

  /** What lies far behind the player leaves the playlist at its front. */
  #forget(): void {
    const { origin } = this.#part
    if (this.#fetched90k === undefined || this.#fetched90k - origin.position90k < behind90k + forget90k) return
    const from90k = this.#fetched90k - behind90k
    let sequence = origin.sequence
    while (sequence + firstEntries < this.#listed.sequence && this.#part.entryAt(sequence)!.position90k < from90k)
      sequence++
    this.#part.drop(sequence)
  }

  async #update(nowMs: number, isGrowing: boolean, currentMs: number | undefined): Promise<void> {
    const bounds = await this.#footage.bounds(this.#row.cameraId)
    await this.#takeIn(bounds, nowMs, isGrowing)
    const first = this.#part.entries.entries[0]
    const kept = this.#kept
    if (kept?.firstMs !== undefined && first?.startMs !== kept.firstMs) {
      // The beginning was deleted while the server was away or nobody watched.
      await this.#resume(kept, bounds, currentMs)
      await this.#takeIn(bounds, nowMs, isGrowing)
    }
    this.#kept = undefined
    if (this.#fetched90k === undefined && currentMs !== undefined) {
      // Of an earlier process: its player may have fetched all that was listed, and waits for more.
      const sequence = this.#part.findMoment(currentMs)
      if (sequence !== undefined) {
        this.noteFetch(this.#part, sequence)
        await this.#takeIn(bounds, nowMs, isGrowing)
      }
    }
    if (bounds && !this.#isWhole && this.#dropDeleted(bounds)) await this.#takeIn(bounds, nowMs, isGrowing)
  }

  /** Goes on with what is left of what was listed, or else behind it. */
  async #resume(kept: StreamListing, bounds: FootageBounds | undefined, currentMs: number | undefined): Promise<void> {
    const { cameraId, endMs } = this.#row
    const origin =
      bounds &&
      (await findRemainingOrigin(
        kept,
        (origin) => createPart(origin, this.#row),
        (part, isEnough) => part.takeIn(this.#footage, cameraId, clip(bounds, endMs), isEnough),
      ))
    if (origin) this.#part = createPart(origin, this.#row)
    else {
      const { startMs, epoch, speed, position90k } = this.#part.origin
      this.#begin({ startMs: currentMs ?? startMs, epoch, speed, position90k })
    }
  }

  async #takeIn(bounds: FootageBounds | undefined, nowMs: number, isGrowing: boolean): Promise<void> {
    const { cameraId, endMs } = this.#row
    const part = this.#part
    const isAll =
      !bounds || (await part.takeIn(this.#footage, cameraId, clip(bounds, endMs), () => this.#hasEnough(part)))
    if (isAll && (!isGrowing || (endMs !== undefined && nowMs >= endMs + settlingMs))) part.finish()
  }

  #hasEnough(part: StreamPart): boolean {
    // The speed was changed meanwhile: what this part would go on with is no concern any more.
    if (part !== this.#part) return true
    if (this.#isWhole) return false
    const { endSequence, origin } = part
    if (endSequence < Math.max(this.#listed.sequence, origin.sequence + firstEntries)) return false
    return this.#fetched90k === undefined || part.end90k >= this.#fetched90k + ahead90k
  }

  /** Entries that retention has deleted leave at the front, as far as they have been listed. */
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

/** Of a stream that has said nothing yet, as it is kept with its row; `known`: see `EntriesOrigin`. */
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

/** A range that was recorded more than once plays each time; without an end, all that was recorded later does. */
function createPart(origin: PartOrigin, { startMs, endMs }: Pick<StreamRow, 'startMs' | 'endMs'>): StreamPart {
  return new StreamPart(origin, endMs, endMs === undefined ? undefined : startMs)
}

/** Entries of a single group that lie in the stream's second file, because its first one was nearly over. */
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
    shortEntries: shortEntriesAtBegin(speed),
  }
}
