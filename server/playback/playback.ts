// Recorded video for viewers: what there is, the timeline, and recorded streams as HLS over the archive's own files.
// Nothing is copied or transcoded; rights are checked at every request. docs/design/playback.md

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { streamSpeeds } from '../../contract/recording.ts'
import type { Catalog } from '../archive/catalog.ts'
import { AppError } from '../base/error.ts'
import { ByteBudget } from '../hub/byte-budget.ts'
import { addSilentTrack } from '../media/mp4/silent-track.ts'
import { writeVideoInit } from '../media/mp4/video-init.ts'
import type { GapMark } from '../model/gap-mark.ts'
import type { Segment } from '../model/segment.ts'
import type { SegmentSpan } from '../model/segment-views.ts'
import { buildTimeline, type Timeline } from '../model/timeline.ts'
import { type ActiveStream, ActiveStreams, type ActiveStreamsOptions, noSuchStream } from './active-streams.ts'
import { type ByteSpan, parseByteRange } from './byte-range.ts'
import { readDownload } from './download-bytes.ts'
import { createDownloadLayout } from './download-layout.ts'
import { DownloadLayouts } from './download-layouts.ts'
import { layoutKeyFrames } from './key-frames.ts'
import { createListing, type FoundFile } from './recorded-stream.ts'
import { openRecording, readExactly } from './recording-file.ts'
import { createShift, openShiftedFile } from './shifted-file.ts'
import { layoutSilentEntry } from './silent-entry.ts'
import type { StreamFile } from './stream-part.ts'
import type { StreamCredential } from './stream-rows.ts'
import { createStreamUrls, type StreamUrls } from './stream-urls.ts'

export type PlaybackOptions = Omit<ActiveStreamsOptions, 'catalog'> & {
  readonly catalog: Catalog
  /** Without a slash at its end. */
  readonly publicUrl: string
  readonly nodeName: string
  /** The last mark at or before `startMs`, and all up to `endMs`, in order. Default: none. */
  listGapMarks?(cameraId: number, startMs: number, endMs: number): Promise<readonly GapMark[]>
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

/** What is known of each frame of a download is in memory while it is made. */
export const maxDownloadMs = 3 * 3_600_000

/** Who wants to watch from now on is let in before the first picture of now is on record. */
const nearNowMs = 10_000

const firstEntryTimeoutMs = 8000
/** Of fragments that are in memory whole while they are sent. */
const maxClosedBytes = 64 * 1024 * 1024
const dayMs = 86_400_000

/** What a stream of a range lists as a whole is looked through for audio. */
const maxLookMs = 25 * 3_600_000

export class Playback {
  readonly #options: PlaybackOptions
  readonly #createId: () => string
  readonly #active: ActiveStreams
  readonly #closedBytes = new ByteBudget(maxClosedBytes)
  readonly #downloads = new DownloadLayouts()

  constructor(options: PlaybackOptions) {
    this.#options = options
    this.#active = new ActiveStreams(options)
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
    const isWithin = footage !== undefined && footage.endMs > endMs && footage.startMs < endMs
    const next = isWithin ? await this.#findNextSpan(cameraId, endMs, spans.at(-1)?.epoch) : undefined
    const marks = (await this.#options.listGapMarks?.(cameraId, startMs, endMs)) ?? []
    const nowMs = this.#options.clock.nowMs()
    return buildTimeline(spans, { startMs, endMs, footage, next, marks, nowMs })
  }

  /** The first one of this epoch or a later one that ends after `ms`, up to a day ahead: mostly a file of a minute, so a few minutes are looked through first. */
  async #findNextSpan(cameraId: number, ms: number, epoch = 0): Promise<SegmentSpan | undefined> {
    for (const [fromMs, toMs] of [
      [0, 5 * 60_000],
      [5 * 60_000, dayMs],
    ] as const) {
      const spans = await this.#options.catalog.listSpans(cameraId, ms + fromMs, ms + toMs)
      const span = spans.find((each) => (each.epoch ?? 0) >= epoch)
      if (span) return span
    }
    return undefined
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
    const { clock, publicUrl, nodeName } = this.#options
    const { cameraId, userId, credential, startMs, isRecording, isWriting = false } = request
    const isNow = isWriting && request.endMs === undefined && Math.abs(startMs - clock.nowMs()) <= nearNowMs
    const firstMs = await this.#findFootage(cameraId, startMs, request.endMs)
    const bounds = await this.#options.catalog.bounds(cameraId)
    const isEmpty = firstMs === undefined || !bounds
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
        // Who wants to watch from now on is not shown what was recorded at this time before the clock was set back.
        { hasAudio: await this.#hasAudio(cameraId, startMs, endMs), epoch: isNow ? bounds?.newest?.epoch : undefined },
      ),
      currentMs: undefined,
    })
    return { id, cameraId, startMs, endMs, urls: createStreamUrls(publicUrl, nodeName, id) }
  }

  /**
   * The id under which a closed range is one file, as `openDownload` gives it; for as long as a stream, and bound to the same rights. Throws
   * 'not_found' when nothing is recorded in the range.
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
    const { id } = await this.createStream({ ...request, endMs, isRecording: false })
    return id
  }

  /** Bytes of the range as one progressive MP4. `ifRange`: the request's If-Range header. Throws as `createDownload`. */
  async openDownload(
    streamId: string,
    keepsGaps: boolean,
    { range, ifRange }: { readonly range?: string | undefined; readonly ifRange?: string | undefined },
  ): Promise<DownloadBytes> {
    const { row } = await this.#active.get(streamId)
    const { cameraId, startMs, endMs } = row
    // Any stream has such an address, also one of a month.
    if (endMs === undefined || endMs - startMs > maxDownloadMs) throw noSuchStream()
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
    if (nodeName !== undefined && nodeName !== this.#options.nodeName) throw noSuchStream()
    const active = await this.#active.get(streamId)
    const { row, stream } = active
    if (row.userId !== userId) throw noSuchStream()
    await this.#active.update(active)
    const { entries } = stream.part.entries
    const currentMs = row.currentMs ?? entries[0]?.startMs ?? row.startMs
    const sequence = stream.findCurrent(currentMs)
    const entry = (sequence === undefined ? undefined : stream.part.entryAt(sequence)) ?? entries[0]
    const positionMs = entry ? entry.position90k / 90 + Math.max(0, currentMs - entry.startMs) : 0
    return { currentMs, positionMs: Math.round(positionMs), speed: row.speed, state: row.state }
  }

  /** Whether it is watched already; what nobody has asked for lately is looked up. */
  isActive(streamId: string): boolean {
    return this.#active.isActive(streamId)
  }

  /**
   * For whom it was made. Throws 'not_found' when the stream has ended or its user may not watch any more: for connections that stay open.
   */
  async checkAccess(streamId: string): Promise<{ readonly userId: number }> {
    return (await this.#active.get(streamId)).row
  }

  /**
   * The text of the media playlist, which grows with what is fetched. Waits a little when the first footage of the range is only just being
   * recorded.
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
    // Kept before it is said: a restart takes nothing back.
    if (listing !== undefined) await this.#active.change(active, { listing, currentMs: active.row.currentMs })
    return playlist
  }

  /**
   * Bytes of a file that the playlist names. `range`: the request's Range header. Throws 'not_found' for a file that is not part of the
   * stream or has been deleted.
   */
  async openBytes(streamId: string, name: string, range?: string): Promise<MediaBytes> {
    const active = await this.#active.get(streamId)
    const { stream } = active
    let file = stream.findFile(name)
    if (!file) {
      await this.#active.update(active)
      file = stream.findFile(name)
    }
    const segment = file && (await this.#findSegment(file))
    if (!file || !segment) throw noSuchStream()
    return this.#openFile(active, file, segment, range)
  }

  /** Lets the playlist grow again. */
  async play(streamId: string): Promise<void> {
    await this.#active.change(await this.#active.get(streamId), { state: 'playing' })
  }

  /** The playlist stays as it is; what it lists can still be fetched. */
  async pause(streamId: string): Promise<void> {
    const active = await this.#active.get(streamId)
    if (active.row.state === 'paused') return
    await this.#active.update(active)
    active.stream.list(false)
    const { currentMs } = active.row
    await this.#active.change(active, { state: 'paused', listing: active.stream.write(), currentMs })
  }

  /**
   * What follows the entry that was fetched last plays at this speed, by key frames alone above 1; what was listed beyond it leaves the
   * playlist. Throws 'invalid' for speeds that are not of `streamSpeeds`.
   */
  async setSpeed(streamId: string, speed: number): Promise<void> {
    const active = await this.#active.get(streamId)
    if (!streamSpeeds.includes(speed)) {
      const words = `The speed is one of ${streamSpeeds.join(', ')}.`
      const reason = speed > 0 && speed < 1 ? `${words} Slow motion is made by the player (its playback rate).` : words
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

  /**
   * Whether there is audio in what a stream is going to play, as far as can be known: its first day, and without an end the newest hour. Its
   * players get the same tracks from beginning to end.
   */
  async #hasAudio(cameraId: number, startMs: number, endMs: number | undefined): Promise<boolean> {
    const { catalog, clock } = this.#options
    const untilMs = Math.min(endMs ?? Number.POSITIVE_INFINITY, startMs + maxLookMs)
    if (await catalog.hasAudio(cameraId, startMs, untilMs)) return true
    return endMs === undefined && catalog.hasAudio(cameraId, clock.nowMs() - dayMs / 24, clock.nowMs() + dayMs)
  }

  async #findSegment(file: FoundFile): Promise<Segment | undefined> {
    const { catalog } = this.#options
    if (file.kind === 'pictures' || file.kind === 'silent') return catalog.findSegment(file.entry.segmentId)
    const segment = await catalog.findSegment(file.segmentId)
    if (segment || file.kind !== 'init' || file.standIn === undefined) return segment
    return catalog.findSegment(file.standIn)
  }

  async #openFile(active: ActiveStream, file: FoundFile, segment: Segment, range?: string): Promise<MediaBytes> {
    const { archiveDir } = this.#options.catalog
    const budget = this.#closedBytes
    const path = join(archiveDir, segment.path)
    if (file.kind === 'init') {
      const init = await readInit(path, segment.initBytes, file.tracks)
      return answer(init.length, range, async ({ first, last }) => once(init.subarray(first, last + 1)))
    }
    if (file.kind === 'segment') {
      return answer(segment.bytes, range, async (span) => {
        const sequence = file.part.findSequence(segment.id, span.first)
        if (sequence !== undefined) await this.#noteFetch(active, file, sequence) // otherwise the initialization section
        return openShiftedFile(path, segment, span, {
          shiftOf: createShift(file.shift),
          hidesAudio: file.hidesAudio,
          budget,
        })
      })
    }
    if (file.kind === 'silent') {
      await this.#noteFetch(active, file, file.sequence)
      const { totalBytes, open } = layoutSilentEntry(path, segment, { ...file, budget })
      return answer(totalBytes, range, open)
    }
    const layout = await layoutKeyFrames(archiveDir, segment, file)
    await this.#noteFetch(active, file, file.sequence)
    return answer(layout.totalBytes, range, async (span) => readDownload(layout, span, segment.cameraId))
  }

  async #noteFetch(active: ActiveStream, { part }: FoundFile, sequence: number): Promise<void> {
    active.stream.noteFetch(part, sequence)
    const entry = part.entryAt(sequence)
    if (entry && part === active.stream.part) await this.#active.noteFetch(active, entry.startMs)
  }
}

async function answer(
  totalBytes: number,
  range: string | undefined,
  open: (span: ByteSpan) => Promise<AsyncGenerator<Uint8Array, void, void>>,
): Promise<MediaBytes> {
  const span = parseByteRange(range, totalBytes)
  if (span === 'unsatisfiable') return { status: 416, totalBytes }
  const { first, last } = span ?? { first: 0, last: totalBytes - 1 }
  const body = await open({ first, last })
  return { status: span ? 206 : 200, firstByte: first, lastByte: last, totalBytes, body }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield bytes
}

type Init = Extract<StreamFile, { kind: 'init' }>

async function readInit(path: string, initBytes: number, tracks: Init['tracks']): Promise<Uint8Array> {
  await using file = await openRecording(path)
  const init = await readExactly(file, 0, initBytes)
  return tracks === 'all' ? init : tracks === 'pictures' ? writeVideoInit(init) : addSilentTrack(init)
}
