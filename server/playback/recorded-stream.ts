// One recorded stream while somebody watches it: its entries so far, the text of its playlist, and what was fetched last.
// Everything here can be made again from the row and the footage, so it is dropped when nobody asks for a while.

import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { Catalog } from '../archive/catalog.ts'
import type { Clock } from '../base/clock.ts'
import { playlistEnd, writePlaylistEntry, writePlaylistHead } from '../media/hls/media-playlist.ts'
import { defaultEntryLimits, StreamEntries, type StreamEntry } from './stream-entries.ts'
import type { StreamRow } from './stream-rows.ts'

/** Footage is looked through in steps of this, which grow where there is none; in between, others get the thread. */
const usualStepMs = 30 * 60_000
const maxStepMs = 24 * 3_600_000

/** Footage of a moment is on record this long after it at the latest. */
const settlingMs = 10_000

/** No entry is longer, but for cameras of less than a frame a second. */
const usualTargetSeconds = 8

export type StreamFootage = Pick<Catalog, 'listSegments' | 'bounds' | 'onFragment'>

export class RecordedStream {
  readonly entries: StreamEntries
  readonly #footage: StreamFootage
  readonly #row: StreamRow
  readonly #firstEntryOf = new Map<number, number>()
  #text = ''
  /** Where the text of each entry ends. */
  readonly #textEnds: number[] = []
  #targetSeconds = usualTargetSeconds
  #updating: Promise<void> | undefined

  constructor(footage: StreamFootage, row: StreamRow) {
    this.#footage = footage
    this.#row = row
    this.entries = new StreamEntries(row.startMs, row.endMs, defaultEntryLimits)
  }

  /** Takes in what has been recorded since. `isGrowing` false: nothing more will be. Requests at the same time share the work. */
  async update(nowMs: number, isGrowing: boolean): Promise<void> {
    this.#updating ??= this.#update(nowMs, isGrowing).finally(() => {
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

  /** `maxEntries`: how many entries to show while the stream is paused. */
  playlist(maxEntries = Number.POSITIVE_INFINITY): string {
    const isWhole = maxEntries >= this.#textEnds.length
    const text = isWhole ? this.#text : this.#text.slice(0, this.#textEnds[maxEntries - 1] ?? 0)
    return this.#head() + text + (isWhole && this.entries.isFinished ? playlistEnd : '')
  }

  /** The entry that holds this byte of a segment, or undefined. */
  findEntry(segmentId: number, offset: number): StreamEntry | undefined {
    const { entries } = this.entries
    for (let i = this.#firstEntryOf.get(segmentId) ?? entries.length; i < entries.length; i++) {
      const entry = entries[i]!
      if (entry.segmentId !== segmentId) return undefined
      if (offset >= entry.offset && offset < entry.offset + entry.bytes) return entry
    }
    return undefined
  }

  async #update(nowMs: number, isGrowing: boolean): Promise<void> {
    const { cameraId, endMs } = this.#row
    const { entries } = this
    const bounds = await this.#footage.bounds(cameraId)
    if (bounds)
      await this.#takeIn(Math.max(entries.cursorMs, bounds.startMs), Math.min(bounds.endMs, endMs ?? bounds.endMs))
    if (!isGrowing || (endMs !== undefined && nowMs >= endMs + settlingMs)) entries.finish()
    this.#writeTexts()
  }

  async #takeIn(startMs: number, untilMs: number): Promise<void> {
    let stepMs = usualStepMs
    for (let fromMs = startMs; fromMs < untilMs && !this.entries.isFinished; ) {
      const toMs = Math.min(fromMs + stepMs, untilMs)
      const segments = await this.#footage.listSegments(this.#row.cameraId, fromMs, toMs)
      for (const segment of segments) this.entries.add(segment)
      this.#writeTexts()
      stepMs = segments.length === 0 ? Math.min(2 * stepMs, maxStepMs) : usualStepMs
      fromMs = toMs
      if (toMs < untilMs) await yieldToOthers()
    }
  }

  #head(): string {
    const { createdAtMs, endMs } = this.#row
    const isWhole = endMs !== undefined && endMs + settlingMs <= createdAtMs
    return writePlaylistHead({
      targetDurationSeconds: this.#targetSeconds,
      type: isWhole ? 'VOD' : 'EVENT',
      mediaSequence: 0,
      discontinuitySequence: 0,
      startsAtFirstEntry: !isWhole,
    })
  }

  #writeTexts(): void {
    const { entries } = this.entries
    for (let i = this.#textEnds.length; i < entries.length; i++) {
      const entry = entries[i]!
      if (!this.#firstEntryOf.has(entry.segmentId)) this.#firstEntryOf.set(entry.segmentId, i)
      const durationSeconds = entry.duration90k / 90_000
      this.#targetSeconds = Math.max(this.#targetSeconds, Math.round(durationSeconds))
      this.#text += writeEntry(entry, durationSeconds)
      this.#textEnds.push(this.#text.length)
    }
  }
}

function writeEntry(entry: StreamEntry, durationSeconds: number): string {
  const { segmentId, bytes, offset, startMs, initBytes, isDiscontinuity, isFirstOfSegment } = entry
  const uri = `${segmentId}.mp4`
  return writePlaylistEntry({
    uri,
    durationSeconds,
    byteRange: { bytes, offset },
    isDiscontinuity,
    // Once a minute is enough for a player to know the time of every frame, and keeps long playlists short.
    ...(isFirstOfSegment && { programDateMs: startMs }),
    ...(initBytes !== undefined && { map: { uri, byteRange: { bytes: initBytes, offset: 0 } } }),
  })
}
