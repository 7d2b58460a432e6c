// Recorded video for viewers: what there is, the timeline, and recorded streams as HLS over the archive's own files.
// Nothing is copied or transcoded; rights are checked at every request. docs/design/playback.md

import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Catalog } from '../archive/catalog.ts'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { scaleTicks } from '../media/mp4/timescale.ts'
import { buildTimeline, type GapMark, type Timeline } from '../model/timeline.ts'
import { parseByteRange } from './byte-range.ts'
import { readDownload } from './download-bytes.ts'
import { checkOneFormat, createDownloadLayout } from './download-layout.ts'
import { DownloadLayouts } from './download-layouts.ts'
import { RecordedStream } from './recorded-stream.ts'
import { openShiftedFile } from './shifted-file.ts'
import type { TimeShift } from './stream-entries.ts'
import type { StreamCredential, StreamRow, StreamRows } from './stream-rows.ts'
import { createStreamUrls, type StreamUrls } from './stream-urls.ts'

export type PlaybackOptions = {
  readonly catalog: Catalog
  readonly streams: StreamRows
  readonly clock: Clock
  /** Without a slash at its end. */
  readonly publicUrl: string
  readonly nodeName: string
  /** May this user see recordings of this camera, now? */
  canView(userId: number, cameraId: number): Promise<boolean>
  /** Has what a stream was asked for with not ended? */
  isLive(credential: StreamCredential): boolean | Promise<boolean>
  /** The last mark at or before `startMs`, and all up to `endMs`, in order. Default: none. */
  listGapMarks?(cameraId: number, startMs: number, endMs: number): Promise<readonly GapMark[]>
  /** Is recording switched on, so that a stream without end may grow? Default: always. */
  isRecording?(cameraId: number): Promise<boolean>
  /** 128 random bits, 32 hexadecimal digits: who knows it may watch, as long as the user may. */
  readonly createId?: () => string
}

export type StreamSession = {
  readonly id: string
  readonly cameraId: number
  readonly startMs: number
  readonly endMs: number | undefined
  readonly urls: StreamUrls
}

export type StreamInfo = {
  /** Wall clock of the footage fetched last; of the first footage before that. Unix milliseconds. */
  readonly currentMs: number
  /** The same as a position in the stream, without gaps. */
  readonly positionMs: number
  readonly speed: number
  readonly state: 'playing' | 'paused'
}

export type MediaBytes =
  | {
      readonly status: 200 | 206
      readonly firstByte: number
      readonly lastByte: number
      readonly totalBytes: number
      /** Read to its end, or `return()`: it holds a file open. */
      readonly body: AsyncGenerator<Uint8Array, void, void>
    }
  | { readonly status: 416; readonly totalBytes: number }

export type DownloadBytes = MediaBytes & { readonly etag: string }

export const streamLifetimeMs = 24 * 3_600_000

/** What is known of each frame of a download is in memory while it is made. */
export const maxDownloadMs = 3 * 3_600_000

/** Who wants to watch from now on is let in before the first picture of now is on record. */
const nearNowMs = 10_000

/** Streams nobody asked about for this long leave memory; their rows stay. */
const idleMs = 5 * 60_000
const maxStreamsInMemory = 1000
const firstEntryTimeoutMs = 8000
const saveIntervalMs = 10_000
const cleaningIntervalMs = 3_600_000
const dayMs = 86_400_000

type Active = { row: StreamRow; readonly stream: RecordedStream; usedAtMs: number; savedAtMs: number }

export class Playback {
  readonly #options: PlaybackOptions
  readonly #createId: () => string
  readonly #active = new Map<string, Active>()
  readonly #downloads = new DownloadLayouts()
  #cleanedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: PlaybackOptions) {
    this.#options = options
    this.#createId = options.createId ?? (() => randomBytes(16).toString('hex'))
  }

  /** First and newest footage, Unix milliseconds; undefined when there is none. */
  async info(cameraId: number): Promise<{ recordingStartMs: number; recordingEndMs: number } | undefined> {
    const bounds = await this.#options.catalog.bounds(cameraId)
    return bounds && { recordingStartMs: bounds.startMs, recordingEndMs: bounds.endMs }
  }

  /** See `buildTimeline`. The range is not limited here. */
  async timeline(cameraId: number, startMs: number, endMs: number): Promise<Timeline> {
    const { catalog } = this.#options
    const footage = await catalog.bounds(cameraId)
    const spans = await catalog.listSpans(cameraId, startMs, endMs)
    const [next] =
      footage && footage.endMs > endMs && footage.startMs < endMs
        ? await catalog.listSpans(cameraId, endMs, endMs + dayMs)
        : []
    const marks = (await this.#options.listGapMarks?.(cameraId, startMs, endMs)) ?? []
    const nowMs = this.#options.clock.nowMs()
    return buildTimeline(spans, { startMs, endMs, footage, nextGapReason: next?.gapReason, marks, nowMs })
  }

  /**
   * Throws 'not_found' when nothing is recorded in the range. `endMs` undefined: to the end, and on while the camera records; such a
   * stream may begin now or in a moment, when `isWriting`.
   */
  async createStream(request: {
    readonly cameraId: number
    readonly userId: number
    /** What the user asks with: once it ends, the stream does. */
    readonly credential: StreamCredential
    readonly startMs: number
    readonly endMs?: number | undefined
    /** Recording is switched on. */
    readonly isRecording: boolean
    /** Footage is being written at this moment. */
    readonly isWriting?: boolean
  }): Promise<StreamSession> {
    const { clock, streams, publicUrl, nodeName } = this.#options
    const { cameraId, userId, credential, startMs, isRecording, isWriting = false } = request
    const isNow = isWriting && request.endMs === undefined && Math.abs(startMs - clock.nowMs()) <= nearNowMs
    const firstMs = await this.#findFootage(cameraId, startMs, request.endMs)
    const bounds = await this.#options.catalog.bounds(cameraId)
    const isEmpty = firstMs === undefined || !bounds
    if (isEmpty && !isNow) throw new AppError('not_found', 'Nothing is recorded in this range.')
    const endMs = request.endMs ?? (isRecording ? undefined : bounds?.endMs)
    const id = this.#createId()
    const row: StreamRow = {
      hash: hashStreamId(id),
      cameraId,
      userId,
      credential,
      startMs,
      endMs,
      createdAtMs: clock.nowMs(),
      state: 'playing',
      speed: 1,
      heldEntries: undefined,
      currentMs: undefined,
    }
    await this.#clean()
    await streams.insert(row)
    return { id, cameraId, startMs, endMs, urls: createStreamUrls(publicUrl, nodeName, id) }
  }

  /**
   * The id under which a closed range is one file, as `openDownload` gives it; for as long as a stream, and bound to the same rights. Throws
   * 'not_found' when nothing is recorded in the range, 'invalid' when what was recorded changes its format within it.
   */
  async createDownload(request: {
    readonly cameraId: number
    readonly userId: number
    readonly credential: StreamCredential
    readonly startMs: number
    readonly endMs: number
  }): Promise<string> {
    const { catalog } = this.#options
    const bounds = await catalog.bounds(request.cameraId)
    // What is recorded from now on must not change the file.
    const endMs = Math.min(request.endMs, bounds?.endMs ?? request.endMs)
    checkOneFormat(await catalog.listSegments(request.cameraId, request.startMs, endMs))
    const { id } = await this.createStream({ ...request, endMs, isRecording: false })
    return id
  }

  /** Bytes of the range as one progressive MP4. `ifRange`: the request's If-Range header. Throws as `createDownload`. */
  async openDownload(
    streamId: string,
    keepsGaps: boolean,
    { range, ifRange }: { readonly range?: string | undefined; readonly ifRange?: string | undefined },
  ): Promise<DownloadBytes> {
    const { row } = await this.#get(streamId)
    const { cameraId, startMs, endMs } = row
    // Any stream has such an address, also one of a month.
    if (endMs === undefined || endMs - startMs > maxDownloadMs) throw notFound()
    const layout = await this.#downloads.load(`${streamId} ${keepsGaps}`, async () => {
      const { catalog } = this.#options
      const segments = await catalog.listSegments(cameraId, startMs, endMs)
      return createDownloadLayout(catalog.archiveDir, segments, { startMs, endMs, keepsGaps })
    })
    const { totalBytes, etag } = layout
    const isSame = ifRange === undefined || ifRange === etag
    const span = isSame ? parseByteRange(range, totalBytes) : undefined
    if (span === 'unsatisfiable') return { status: 416, totalBytes, etag }
    const { first, last } = span ?? { first: 0, last: totalBytes - 1 }
    const body = readDownload(layout, { first, last }, cameraId)
    return { status: span ? 206 : 200, firstByte: first, lastByte: last, totalBytes, body, etag }
  }

  /** Throws 'not_found' for a stream that is not this user's, or one of another node than `nodeName`. */
  async getStreamInfo(streamId: string, userId: number, nodeName?: string): Promise<StreamInfo> {
    if (nodeName !== undefined && nodeName !== this.#options.nodeName) throw notFound()
    const active = await this.#get(streamId)
    const { row, stream } = active
    if (row.userId !== userId) throw notFound()
    await this.#update(active)
    const { entries } = stream.entries
    const currentMs = row.currentMs ?? entries[0]?.startMs ?? row.startMs
    const entry = entries.findLast((entry) => entry.startMs <= currentMs) ?? entries[0]
    const positionMs = entry ? entry.position90k / 90 + Math.max(0, currentMs - entry.startMs) : 0
    return { currentMs, positionMs: Math.round(positionMs), speed: row.speed, state: row.state }
  }

  /** Throws 'not_found' when the stream has ended or its user may not watch any more: for connections that stay open. */
  async checkAccess(streamId: string): Promise<void> {
    await this.#get(streamId)
  }

  /** The text of the media playlist. Waits a little when the first footage of the range is only just being recorded. */
  async playlist(streamId: string): Promise<string> {
    const active = await this.#get(streamId)
    const { clock } = this.#options
    const deadlineMs = clock.monotonicMs() + firstEntryTimeoutMs
    for (;;) {
      await this.#update(active)
      const leftMs = deadlineMs - clock.monotonicMs()
      const { entries, isFinished } = active.stream.entries
      if (entries.length > 0 || isFinished || leftMs <= 0) break
      await active.stream.waitForFootage(clock, leftMs)
    }
    return active.stream.playlist(active.row.heldEntries)
  }

  /**
   * Bytes of `{segmentId}.mp4`, decode times moved onto the stream's axis. `range`: the request's Range header. Throws 'not_found'
   * for a file that is not part of the stream or has been deleted.
   */
  async openBytes(streamId: string, file: string, range?: string): Promise<MediaBytes> {
    const active = await this.#get(streamId)
    const { catalog } = this.#options
    const segmentId = Number(/^(\d{1,15})\.mp4$/.exec(file)?.[1] ?? Number.NaN)
    let shift = active.stream.entries.findShift(segmentId)
    if (!shift) {
      await this.#update(active)
      shift = active.stream.entries.findShift(segmentId)
    }
    const segment = shift && (await catalog.findSegment(segmentId))
    if (!shift || !segment) throw notFound()
    const totalBytes = segment.bytes
    const span = parseByteRange(range, totalBytes)
    if (span === 'unsatisfiable') return { status: 416, totalBytes }
    const { first, last } = span ?? { first: 0, last: totalBytes - 1 }
    await this.#noteFetch(active, segmentId, first)
    const path = join(catalog.archiveDir, segment.path)
    const body = await openShiftedFile(path, segment, { first, last }, createShift(shift))
    return { status: span ? 206 : 200, firstByte: first, lastByte: last, totalBytes, body }
  }

  /** Lets the playlist grow again. */
  async play(streamId: string): Promise<void> {
    await this.#change(await this.#get(streamId), { state: 'playing', heldEntries: undefined })
  }

  /** The playlist stays as it is; what it lists can still be fetched. */
  async pause(streamId: string): Promise<void> {
    const active = await this.#get(streamId)
    if (active.row.state === 'paused') return
    await this.#update(active)
    await this.#change(active, { state: 'paused', heldEntries: active.stream.entries.entries.length })
  }

  /** Only 1 is possible so far. Throws 'invalid' for others. */
  async setSpeed(streamId: string, speed: number): Promise<void> {
    const active = await this.#get(streamId)
    if (speed !== 1) {
      const reason = 'Only the speed 1 is supported.'
      throw new AppError('invalid', reason, { fields: { speed: [reason] } })
    }
    await this.#change(active, { speed })
  }

  stats(): { activeStreams: number } {
    return { activeStreams: this.#active.size }
  }

  /** Start of the first footage in the range; in gaps it looks on in steps that grow. */
  async #findFootage(cameraId: number, startMs: number, endMs: number | undefined): Promise<number | undefined> {
    const { catalog } = this.#options
    const bounds = await catalog.bounds(cameraId)
    if (!bounds) return undefined
    const untilMs = Math.min(endMs ?? Number.POSITIVE_INFINITY, bounds.endMs)
    let stepMs = dayMs / 24
    for (let fromMs = Math.max(startMs, bounds.startMs); fromMs < untilMs; fromMs += stepMs, stepMs *= 2) {
      const [first] = await catalog.listSpans(cameraId, fromMs, Math.min(fromMs + stepMs, untilMs))
      if (first) return first.startMs
    }
    return undefined
  }

  /** Throws 'not_found' when there is no such stream, it has ended, or its user or what it was asked for with has lost the right. */
  async #get(streamId: string): Promise<Active> {
    const { clock, streams, canView, isLive, catalog } = this.#options
    const nowMs = clock.nowMs()
    let active = this.#active.get(streamId)
    if (!active) {
      const row = await streams.find(hashStreamId(streamId))
      if (!row) throw notFound()
      this.#forgetIdle()
      active = this.#active.get(streamId) ?? {
        row,
        stream: new RecordedStream(catalog, row),
        usedAtMs: 0,
        savedAtMs: Number.NEGATIVE_INFINITY,
      }
      this.#active.set(streamId, active)
    }
    active.usedAtMs = clock.monotonicMs()
    if (nowMs >= active.row.createdAtMs + streamLifetimeMs) {
      this.#active.delete(streamId)
      throw notFound()
    }
    const { userId, cameraId, credential } = active.row
    if (!(await isLive(credential)) || !(await canView(userId, cameraId))) throw notFound()
    return active
  }

  async #update({ row, stream }: Active): Promise<void> {
    if (stream.entries.isFinished) return
    const { clock, isRecording } = this.#options
    const isGrowing = row.endMs !== undefined || ((await isRecording?.(row.cameraId)) ?? true)
    await stream.update(clock.nowMs(), isGrowing)
  }

  async #noteFetch(active: Active, segmentId: number, byte: number): Promise<void> {
    const entry = active.stream.findEntry(segmentId, byte)
    if (!entry) return // the initialization section
    active.row = { ...active.row, currentMs: entry.startMs }
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs - active.savedAtMs < saveIntervalMs) return
    active.savedAtMs = nowMs
    await this.#options.streams.update(active.row.hash, { currentMs: entry.startMs })
  }

  async #change(active: Active, values: Parameters<StreamRows['update']>[1]): Promise<void> {
    await this.#options.streams.update(active.row.hash, values)
    active.row = { ...active.row, ...values }
  }

  #forgetIdle(): void {
    const nowMs = this.#options.clock.monotonicMs()
    const isFull = this.#active.size >= maxStreamsInMemory
    for (const [id, { usedAtMs }] of this.#active) {
      if (isFull || nowMs - usedAtMs > idleMs) this.#active.delete(id)
    }
  }

  async #clean(): Promise<void> {
    const { clock, streams } = this.#options
    const nowMs = clock.monotonicMs()
    if (nowMs - this.#cleanedAtMs < cleaningIntervalMs) return
    this.#cleanedAtMs = nowMs
    await streams.removeExpired(clock.nowMs() - streamLifetimeMs)
  }
}

/** Rounded as the recorder rounds, so that sound continues from file to file without a sample too much or too little. */
function createShift({ runStart90k, runBase90k, shift90k }: TimeShift): (timescale: number) => number {
  return (timescale) =>
    scaleTicks(runStart90k, timescale) - scaleTicks(runBase90k, timescale) + scaleTicks(shift90k, timescale)
}

/** 128 random bits need no salt. */
function hashStreamId(id: string): Uint8Array {
  return createHash('sha256').update(id).digest()
}

function notFound(): AppError {
  return new AppError('not_found', 'There is no such recorded stream.')
}
