// Recorded footage for viewers: timelines, recorded streams as HLS over the files of the archive, and downloads.
// Nothing is copied or transcoded, and the user's rights are checked on every request. See docs/design/playback.md.

import { randomBytes } from 'node:crypto'
import { streamSpeeds } from '../../contract/recording.ts'
import type { Catalog } from '../archive/catalog.ts'
import { AppError } from '../base/error.ts'
import type { Timeline } from '../model/timeline.ts'
import { type ActiveStream, ActiveStreams, type ActiveStreamsOptions, streamNotFound } from './active-streams.ts'
import { type DownloadBytes, type DownloadHeaders, Downloads } from './downloads.ts'
import { FootageSearch, type FootageSearchOptions } from './footage-search.ts'
import type { MediaBytes } from './media-bytes.ts'
import { createListing, type FoundFile } from './recorded-stream.ts'
import { StreamFileReader } from './stream-file-reader.ts'
import type { StreamCredential } from './stream-rows.ts'
import { createStreamUrls, type StreamUrls } from './stream-urls.ts'

export type PlaybackOptions = Omit<ActiveStreamsOptions, 'catalog'> &
  Pick<FootageSearchOptions, 'listGapMarks'> & {
    readonly catalog: Catalog
    /** Without a trailing slash. */
    readonly publicUrl: string
    /** Where the files of streams are reached, if not there. */
    readonly mediaUrl?: string | undefined
    readonly nodeName: string
    /** Whether streams of other servers may be asked for here, which have gone. Default: no. */
    readonly answersForOthers?: boolean
    /** Returns 128 random bits as 32 hexadecimal digits. Anyone who knows the id may watch as long as the user may. */
    readonly createId?: () => string
    /** Memory for the layouts of downloads that are being sent. 64 MiB by default. */
    readonly maxLayoutBytes?: number
  }

export type StreamSession = {
  readonly id: string
  readonly cameraId: number
  readonly startMs: number
  readonly endMs: number | undefined
  readonly urls: StreamUrls
}

export type StreamInfo = {
  /**
   * Wall clock of the most recently fetched footage, or of the first footage before any was fetched. Unix milliseconds.
   */
  readonly currentMs: number
  /** The same moment as a position in the stream, without gaps. */
  readonly positionMs: number
  readonly speed: number
  readonly state: 'playing' | 'paused'
}

/** A stream that starts this close to the current time may be created before its first frame is recorded. */
const nearNowMs = 10_000

const firstEntryTimeoutMs = 8000

export class Playback {
  readonly #options: PlaybackOptions
  readonly #createId: () => string
  readonly #active: ActiveStreams
  readonly #footage: FootageSearch
  readonly #files: StreamFileReader
  readonly #downloads: Downloads

  constructor(options: PlaybackOptions) {
    this.#options = options
    this.#active = new ActiveStreams(options)
    this.#footage = new FootageSearch(options)
    this.#files = new StreamFileReader(options.catalog)
    this.#downloads = new Downloads(options.catalog, options.maxLayoutBytes ?? 64 * 1024 * 1024)
    this.#createId = options.createId ?? (() => randomBytes(16).toString('hex'))
  }

  /**
   * Returns the start of the first and the end of the newest footage in Unix milliseconds; undefined without footage.
   */
  async info(cameraId: number): Promise<{ recordingStartMs: number; recordingEndMs: number } | undefined> {
    const bounds = await this.#options.catalog.bounds(cameraId)
    return bounds && { recordingStartMs: bounds.startMs, recordingEndMs: bounds.endMs }
  }

  /** Returns the timeline of a range of any length; see `buildTimeline`. */
  async timeline(cameraId: number, startMs: number, endMs: number): Promise<Timeline> {
    return this.#footage.timeline(cameraId, startMs, endMs)
  }

  /**
   * Creates a recorded stream. Without `endMs` it plays to the end of the footage and continues while the camera
   * records; with `isWriting`, such a stream may start at the current time. Throws 'not_found' when nothing is recorded
   * in the range.
   */
  async createStream(request: {
    readonly cameraId: number
    readonly userId: number
    /** The credential of the request. The stream ends when the credential does. */
    readonly credential: StreamCredential
    readonly startMs: number
    readonly endMs?: number | undefined
    /** Recording is enabled. */
    readonly isRecording: boolean
    /** Footage is being written at this moment. */
    readonly isWriting?: boolean
  }): Promise<StreamSession> {
    const { clock } = this.#options
    const { cameraId, userId, credential, startMs, isRecording, isWriting = false } = request
    const isNow = isWriting && request.endMs === undefined && Math.abs(startMs - clock.nowMs()) <= nearNowMs
    const bounds = await this.#options.catalog.bounds(cameraId)
    const isEmpty = !bounds || !(await this.#footage.hasFootage(cameraId, startMs, request.endMs, bounds))
    if (isEmpty && !isNow) throw new AppError('not_found', 'Nothing is recorded in this range.')
    const endMs = request.endMs ?? (isRecording ? undefined : bounds?.endMs)
    const id = this.#createId()
    await this.#active.insert(id, {
      cameraId,
      userId,
      credential,
      startMs,
      endMs,
      createdAtMs: clock.nowMs(),
      state: 'playing',
      speed: 1,
      listing: createListing(
        { startMs, speed: 1 },
        {
          hasAudio: await this.#footage.hasAudio(cameraId, startMs, endMs),
          // A stream that starts now must not show what was recorded at this time before the clock was set back.
          epoch: isNow ? bounds?.newest?.epoch : undefined,
        },
      ),
      currentMs: undefined,
    })
    return { id, cameraId, startMs, endMs, urls: createStreamUrls(this.#options, id) }
  }

  /**
   * Creates a download of a range, for `openDownload`. It is valid as long as a stream and is bound to the same rights.
   * Throws 'not_found' when nothing is recorded in the range.
   */
  async createDownload(request: {
    readonly cameraId: number
    readonly userId: number
    readonly credential: StreamCredential
    readonly startMs: number
    readonly endMs: number
  }): Promise<StreamSession> {
    const bounds = await this.#options.catalog.bounds(request.cameraId)
    // Footage that is recorded later must not change the file.
    const endMs = Math.min(request.endMs, bounds?.endMs ?? request.endMs)
    return this.createStream({ ...request, endMs, isRecording: false })
  }

  /** Opens a download; see `Downloads.open`. Throws 'not_found' like `checkAccess`. */
  async openDownload(streamId: string, keepsGaps: boolean, headers: DownloadHeaders): Promise<DownloadBytes> {
    const { row } = await this.#active.get(streamId)
    return this.#downloads.open(streamId, row, keepsGaps, headers)
  }

  /** Throws 'not_found' for a stream of another user or, if `nodeName` is given, of a server it does not answer for. */
  async getStreamInfo(streamId: string, userId: number, nodeName?: string): Promise<StreamInfo> {
    const { nodeName: own, answersForOthers = false } = this.#options
    if (nodeName !== undefined && nodeName !== own && !answersForOthers) throw streamNotFound()
    const active = await this.#active.get(streamId)
    const { row, stream } = active
    if (row.userId !== userId) throw streamNotFound()
    await this.#active.update(active)
    const { entries } = stream.part.entries
    const currentMs = row.currentMs ?? entries[0]?.startMs ?? row.startMs
    const sequence = stream.findCurrentSequence(currentMs)
    const entry = (sequence === undefined ? undefined : stream.part.entryAt(sequence)) ?? entries[0]
    const positionMs = entry ? entry.position90k / 90 + Math.max(0, currentMs - entry.startMs) : 0
    return { currentMs, positionMs: Math.round(positionMs), speed: row.speed, state: row.state }
  }

  /** Returns whether the stream is in memory, so that using it needs no lookup. */
  isActive(streamId: string): boolean {
    return this.#active.isActive(streamId)
  }

  /**
   * Checks a connection that stays open, and returns the user and the camera of the stream. Throws 'not_found' when the stream has
   * ended or its user may not watch it any more.
   */
  async checkAccess(streamId: string): Promise<{ readonly userId: number; readonly cameraId: number }> {
    return (await this.#active.get(streamId)).row
  }

  /**
   * Returns the media playlist, which grows as the player fetches entries. Waits for some seconds when the first
   * footage of the range is still being recorded.
   */
  async playlist(streamId: string): Promise<string> {
    const active = await this.#active.get(streamId)
    const { stream } = active
    const { clock } = this.#options
    const deadlineMs = clock.monotonicMs() + firstEntryTimeoutMs
    for (;;) {
      await this.#active.update(active)
      const leftMs = deadlineMs - clock.monotonicMs()
      const { entries, isFinished } = stream.part.entries
      if (entries.length > 0 || isFinished || leftMs <= 0) break
      await stream.waitForFootage(clock, leftMs)
    }
    const { playlist, changed: listing } = stream.list(active.row.state === 'paused')
    // Saved before the player sees it, so that a restart never removes an entry.
    if (listing !== undefined) await this.#active.change(active, { listing, currentMs: active.row.currentMs })
    return playlist
  }

  /**
   * Opens a file that the playlist names. `range` is the Range header of the request. Throws 'not_found' for a file
   * that is not part of the stream or has been deleted.
   */
  async openBytes(streamId: string, name: string, range?: string): Promise<MediaBytes> {
    const active = await this.#active.get(streamId)
    const { stream } = active
    let file = stream.findFile(name)
    if (!file) {
      await this.#active.update(active)
      file = stream.findFile(name)
    }
    const bytes = file && (await this.#files.open(file, range, (sequence) => this.#noteFetch(active, file, sequence)))
    if (!bytes) throw streamNotFound()
    return bytes
  }

  /** Lets the playlist grow again after `pause`. */
  async play(streamId: string): Promise<void> {
    await this.#active.change(await this.#active.get(streamId), { state: 'playing' })
  }

  /** Stops the growth of the playlist. Listed entries can still be fetched. */
  async pause(streamId: string): Promise<void> {
    const active = await this.#active.get(streamId)
    if (active.row.state === 'paused') return
    await this.#active.update(active)
    active.stream.list(false)
    const { currentMs } = active.row
    await this.#active.change(active, { state: 'paused', listing: active.stream.write(), currentMs })
  }

  /**
   * Changes the speed from the entry after the most recently fetched one on; above 1, only key frames are shown. Later
   * entries are removed from the playlist. Throws 'invalid' for a speed that is not in `streamSpeeds`.
   */
  async setSpeed(streamId: string, speed: number): Promise<void> {
    const active = await this.#active.get(streamId)
    if (!streamSpeeds.includes(speed)) {
      const expected = `The speed must be one of ${streamSpeeds.join(', ')}.`
      const isSlow = speed > 0 && speed < 1
      const reason = isSlow ? `${expected} For slow motion, change the playback rate of the player.` : expected
      throw new AppError('invalid', reason, { fields: { speed: [reason] } })
    }
    if (active.row.speed === speed) return
    await this.#active.update(active)
    const { currentMs } = active.row
    active.stream.changeSpeed(speed, currentMs)
    await this.#active.change(active, { speed, listing: active.stream.write(), currentMs })
  }

  stats(): { activeStreams: number } {
    return { activeStreams: this.#active.size }
  }

  async #noteFetch(active: ActiveStream, { part }: FoundFile, sequence: number): Promise<void> {
    active.stream.noteFetch(part, sequence)
    const entry = part.entryAt(sequence)
    if (entry && part === active.stream.part) await this.#active.noteFetch(active, entry.startMs)
  }
}
