// Lays out a range of footage as one progressive MP4: its head, and the ranges of the files that follow. Only the heads
// of the fragments are read. The result depends on nothing but the footage and the range.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { AppError } from '../base/error.ts'
import { parseFragmentSamples, type TrackSamples } from '../media/mp4/fragment-samples.ts'
import { videoTrackId } from '../media/mp4/init-segment.ts'
import { writeProgressiveHead } from '../media/mp4/progressive-head.ts'
import { scaleTicks } from '../media/mp4/timescale.ts'
import { type Fragment, holeSeam90k, type Segment } from '../model/segment.ts'
import { DownloadData, type DownloadPart } from './download-data.ts'
import { readFormats, type SourceTrack } from './download-formats.ts'
import { openRecording, readMoof } from './recording-file.ts'
import { beginRun, isSeamless, shiftTicks, type TimeShift } from './time-shift.ts'

export type DownloadLayout = {
  readonly head: Uint8Array
  readonly parts: readonly DownloadPart[]
  readonly totalBytes: number
  /** Equal for equal bytes. */
  readonly etag: string
}

export type DownloadRange = {
  readonly startMs: number
  readonly endMs: number
  /** Gaps keep their duration and show the last frame; otherwise they are left out. */
  readonly keepsGaps: boolean
  /** There is footage before and after the range. Time without footage at its ends is then a gap like any other. */
  readonly isPreceded: boolean
  readonly isContinued: boolean
}

type Track = {
  readonly trackId: number
  readonly source: SourceTrack
  readonly sizes: number[]
  readonly durations: number[]
  readonly compositionOffsets: number[]
  readonly isKey: boolean[]
  readonly chunks: { offset: number; samples: number }[]
  firstTicks: number
  lastTicks: number
}

/** The most recently added fragment. */
type Previous = { readonly segment: Segment; readonly shift: TimeShift; readonly fragment: Fragment }

/**
 * `segments` are all segments of the range in the order of their start. Throws 'not_found' when nothing is recorded,
 * and 'corrupt'.
 */
export async function createDownloadLayout(
  archiveDir: string,
  segments: readonly Segment[],
  { startMs, endMs, keepsGaps, isPreceded, isContinued }: DownloadRange,
): Promise<DownloadLayout> {
  const chosen = segments
    .map((segment) => ({ segment, ...selectFragments(segment.fragments, startMs, endMs) }))
    .filter(({ fragments }) => fragments.length > 0)
  const formats = await readFormats(
    archiveDir,
    chosen.map(({ segment }) => segment),
  )
  const tracks = new Map<string, Track>()
  const data = new DownloadData()
  let start90k: number | undefined
  let end90k = 0
  let lastVideo: Track | undefined
  let previous: Previous | undefined

  for (const { segment, fragments, firstShown } of chosen) {
    const sources = formats.get(segment.initHash)!
    const path = join(archiveDir, segment.path)
    await using file = await openRecording(path)
    let lastEnd90k = 0
    for (const track of tracks.values()) {
      lastEnd90k = Math.max(lastEnd90k, Math.ceil((endTicks(track) * 90_000) / track.source.timescale))
    }
    let shift = placeFile(segment, previous, lastEnd90k, keepsGaps)
    for (const [i, fragment] of fragments.entries()) {
      if (keepsGaps && i > 0) shift = addHole(shift, fragment)
      previous = { segment, shift, fragment }
      const { moof, offset } = await readMoof(file, fragment, segment.cameraId)
      const found = parseFragmentSamples(moof)
      for (const samples of found) {
        const source = sources.find(({ sourceId }) => sourceId === samples.trackId)
        if (!source) throw new AppError('corrupt', `expected track ${samples.trackId} in the initialization section`)
        const start = offset + samples.dataOffset
        const bytes = samples.sizes.reduce((sum, size) => sum + size, 0)
        if (start + bytes > fragment.offset + fragment.bytes)
          throw new AppError('corrupt', 'expected the samples within their fragment')
        const track = getTrack(tracks, source)
        const place = { path, fragmentOffset: fragment.offset, offset: start }
        const { sizes, at } = data.addSamples(place, samples, source.parameterSets)
        const baseTicks = samples.baseDecodeTime + shiftTicks(shift, source.timescale)
        const firstTicks = addSamples(track, { ...samples, sizes }, baseTicks, at)
        if (samples.trackId !== videoTrackId) continue
        const shown90k = firstTicks + samples.compositionOffsets[0]!
        if (i >= firstShown) {
          const skippedMs = startMs - fragment.startMs
          // A gap at the start shows nothing: players do not show a frame that begins before the start.
          start90k ??= shown90k + (keepsGaps && isPreceded ? skippedMs : Math.max(0, skippedMs)) * 90
        }
        const shownMs = keepsGaps && isContinued ? Number.POSITIVE_INFINITY : fragment.durationMs
        end90k = shown90k + Math.min(endMs - fragment.startMs, shownMs) * 90
        lastVideo = track
        const begin90k = firstTicks
        const until90k = begin90k + samples.durations.reduce((sum, ticks) => sum + ticks, 0)
        for (const other of tracks.values()) {
          if (!sources.some(({ key }) => key === other.source.key)) addSilence(data, other, begin90k, until90k)
        }
      }
    }
  }
  if (!lastVideo || start90k === undefined || end90k <= start90k)
    throw new AppError('not_found', 'Nothing is recorded in this range.')
  lastUntil(lastVideo, end90k)

  const from90k = start90k
  const described = [...tracks.values()].map(({ source, ...track }) => {
    const { timescale, init, sourceId, parameterSets } = source
    const startTicks = scaleTicks(from90k, timescale) - track.firstTicks
    return { ...track, init, sourceId, timescale, startTicks, isInBand: parameterSets !== undefined }
  })
  const head = writeProgressiveHead(described, { duration90k: end90k - from90k, dataBytes: data.bytes })
  const moved = data.parts.map((part) => ({ ...part, at: part.at + head.length }))
  const places = moved.map(({ path, offset }) => `${path} ${offset}`).join('\n')
  const etag = createHash('sha256').update(head).update(places).digest('hex').slice(0, 32)
  return { head, parts: moved, totalBytes: head.length + data.bytes, etag: `"${etag}"` }
}

function getTrack(tracks: Map<string, Track>, source: SourceTrack): Track {
  const found = tracks.get(source.key)
  if (found) return found
  const lists = { sizes: [], durations: [], compositionOffsets: [], isKey: [], chunks: [] }
  const track: Track = { trackId: tracks.size + 1, source, ...lists, firstTicks: 0, lastTicks: 0 }
  tracks.set(source.key, track)
  return track
}

function endTicks({ lastTicks, durations }: Track): number {
  return lastTicks + (durations.at(-1) ?? 0)
}

/** Fills an audio track for video without audio. */
function addSilence(data: DownloadData, track: Track, begin90k: number, until90k: number): void {
  const { silence, timescale } = track.source
  if (!silence) return
  const baseTicks = Math.max(endTicks(track), scaleTicks(begin90k, timescale))
  const count = Math.ceil((scaleTicks(until90k, timescale) - baseTicks) / silence.samples)
  if (count <= 0) return
  const list = <T>(value: T) => new Array<T>(count).fill(value)
  const samples = {
    sizes: list(silence.data.length),
    durations: list(silence.samples),
    compositionOffsets: list(0),
    isKey: list(true),
  }
  addSamples(track, samples, baseTicks, data.addBytes(Buffer.concat(list(silence.data))))
}

/**
 * Returns the fragments from the group of pictures that contains the start, or that follows the hole which contains it,
 * and the number of them before the first one that is shown.
 */
function selectFragments(
  all: readonly Fragment[],
  startMs: number,
  endMs: number,
): { readonly fragments: readonly Fragment[]; readonly firstShown: number } {
  const shown = all.findIndex((fragment) => fragment.startMs + fragment.durationMs > startMs)
  const first = all.findLastIndex(({ isKey }, i) => isKey && i <= shown)
  if (shown < 0 || all[shown]!.startMs >= endMs) return { fragments: [], firstShown: 0 }
  const fragments = all.slice(Math.max(0, first)).filter((fragment) => fragment.startMs < endMs)
  return { fragments, firstShown: shown - Math.max(0, first) }
}

/** Shows the last frame of a video track until the end of the download, which may lie in a gap. */
function lastUntil(track: Track, end90k: number): void {
  const { durations, lastTicks, source, compositionOffsets } = track
  const endTicks = scaleTicks(end90k, source.timescale) - compositionOffsets.at(-1)!
  durations[durations.length - 1] = Math.max(durations.at(-1)!, endTicks - lastTicks)
}

function placeFile(
  segment: Segment,
  previous: Previous | undefined,
  lastEnd90k: number,
  keepsGaps: boolean,
): TimeShift {
  if (!previous) return beginRun(segment, 0)
  const { fragment, shift } = previous
  if (isSeamless(previous.segment, segment)) return { ...shift, runStart90k: segment.runStart90k }
  // Counted from the last fragment, because the shift has grown since the file began when holes were left out of the
  // file.
  const since90k = shiftTicks(shift, 90_000) + fragment.start90k + (segment.startMs - fragment.startMs) * 90
  return beginRun(segment, keepsGaps ? Math.max(lastEnd90k, since90k) : lastEnd90k)
}

/** Adds the part of the hole before the fragment that the file leaves out. */
function addHole(shift: TimeShift, { hole }: Fragment): TimeShift {
  if (!hole?.isCut) return shift
  return { ...shift, shift90k: shift.shift90k + Math.max(0, hole.durationMs * 90 - holeSeam90k) }
}

/** Adds samples, each of which lasts until the next one begins. Returns the start of the first one. */
function addSamples(
  track: Track,
  samples: Pick<TrackSamples, 'sizes' | 'durations' | 'compositionOffsets' | 'isKey'>,
  baseTicks: number,
  offset: number,
): number {
  if (track.sizes.length === 0) {
    track.firstTicks = track.lastTicks = baseTicks
  } else {
    const durationTicks = Math.max(1, baseTicks - track.lastTicks)
    track.durations[track.durations.length - 1] = durationTicks
    track.lastTicks += durationTicks
  }
  const firstTicks = track.lastTicks
  track.chunks.push({ offset, samples: samples.sizes.length })
  for (const [i, size] of samples.sizes.entries()) {
    if (i > 0) track.lastTicks += samples.durations[i - 1]!
    track.sizes.push(size)
    track.durations.push(samples.durations[i]!)
    track.compositionOffsets.push(samples.compositionOffsets[i]!)
    track.isKey.push(samples.isKey[i]!)
  }
  return firstTicks
}
