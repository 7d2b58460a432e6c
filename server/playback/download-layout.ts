// A range of footage as one progressive MP4: its head, and which bytes of which files follow. Only the heads of the fragments are read. The
// result depends on the footage and the range alone.

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
  /** Gaps last as long as they did, with the picture standing still; otherwise they are left out. */
  readonly keepsGaps: boolean
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

/** A file's place on the axis of the download, see `createShift` of playback. */
type Axis = { readonly runStart90k: number; readonly runBase90k: number; readonly shift90k: number }

/** The fragment that was added last. */
type Before = { readonly segment: Segment; readonly axis: Axis; readonly fragment: Fragment }

/** A file that begins within so much of the end of the one before continues it. */
const maxSeam90k = 9000

/** `segments` in the order of their start, all of the range. Throws 'not_found' when there is nothing, and 'corrupt'. */
export async function createDownloadLayout(
  archiveDir: string,
  segments: readonly Segment[],
  { startMs, endMs, keepsGaps }: DownloadRange,
): Promise<DownloadLayout> {
  const chosen = segments
    .map((segment) => ({ segment, fragments: chooseFragments(segment.fragments, startMs, endMs) }))
    .filter(({ fragments }) => fragments.length > 0)
  const formats = await readFormats(
    archiveDir,
    chosen.map(({ segment }) => segment),
  )
  const tracks = new Map<string, Track>()
  const data = new DownloadData()
  let start90k: number | undefined
  let end90k = 0
  let before: Before | undefined

  for (const { segment, fragments } of chosen) {
    const sources = formats.get(segment.initHash)!
    const path = join(archiveDir, segment.path)
    await using file = await openRecording(path)
    let lastEnd90k = 0
    for (const track of tracks.values()) {
      lastEnd90k = Math.max(lastEnd90k, Math.ceil((endTicks(track) * 90_000) / track.source.timescale))
    }
    let axis = placeFile(segment, before, lastEnd90k, keepsGaps)
    for (const [i, fragment] of fragments.entries()) {
      if (keepsGaps && i > 0) axis = addHole(axis, fragment)
      before = { segment, axis, fragment }
      const { moof, offset } = await readMoof(file, fragment, segment.cameraId)
      const found = parseFragmentSamples(moof)
      for (const samples of found) {
        const source = sources.find(({ sourceId }) => sourceId === samples.trackId)
        if (!source) throw new AppError('corrupt', `expected track ${samples.trackId} in the initialization section`)
        const start = offset + samples.dataOffset
        const bytes = samples.sizes.reduce((sum, size) => sum + size, 0)
        if (start + bytes > fragment.offset + fragment.bytes)
          throw new AppError('corrupt', 'expected the samples of a fragment inside it')
        const track = getTrack(tracks, source)
        const place = { path, fragmentOffset: fragment.offset, offset: start }
        const { sizes, at } = data.addSamples(place, samples, source.parameterSets)
        const baseTicks = samples.baseDecodeTime + shiftTicks(axis, source.timescale)
        const firstTicks = addSamples(track, { ...samples, sizes }, baseTicks, at)
        if (samples.trackId !== videoTrackId) continue
        const shown90k = firstTicks + samples.compositionOffsets[0]!
        start90k ??= shown90k + Math.max(0, startMs - fragment.startMs) * 90
        end90k = shown90k + Math.min(endMs - fragment.startMs, fragment.durationMs) * 90
        const begin90k = firstTicks
        const until90k = begin90k + samples.durations.reduce((sum, ticks) => sum + ticks, 0)
        for (const other of tracks.values()) {
          if (!sources.some(({ key }) => key === other.source.key)) addSilence(data, other, begin90k, until90k)
        }
      }
    }
  }
  if (start90k === undefined || end90k <= start90k)
    throw new AppError('not_found', 'Nothing is recorded in this range.')

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

/** Of a track of audio for pictures that have none of it. */
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

/** From the group of pictures that holds the start on. */
function chooseFragments(fragments: readonly Fragment[], startMs: number, endMs: number): readonly Fragment[] {
  const first = fragments.findLastIndex((fragment) => fragment.isKey && fragment.startMs <= startMs)
  return fragments.slice(Math.max(0, first)).filter((fragment) => fragment.startMs < endMs)
}

function placeFile(segment: Segment, before: Before | undefined, lastEnd90k: number, keepsGaps: boolean): Axis {
  const { runStart90k } = segment
  if (!before) return { runStart90k, runBase90k: runStart90k, shift90k: 0 }
  const last = before.segment.fragments.at(-1)!
  const runEnd90k = before.segment.runStart90k + last.start90k + last.duration90k
  const isSeamless = before.segment.runId === segment.runId && Math.abs(runStart90k - runEnd90k) <= maxSeam90k
  if (isSeamless) return { ...before.axis, runStart90k }
  // From the last fragment on: the axis has moved since the file began when holes were left out of it.
  const { fragment } = before
  const since90k = shiftTicks(before.axis, 90_000) + fragment.start90k + (segment.startMs - fragment.startMs) * 90
  return { runStart90k, runBase90k: runStart90k, shift90k: keepsGaps ? Math.max(lastEnd90k, since90k) : lastEnd90k }
}

/** The time that the file leaves out before the fragment, but for what it leaves in. */
function addHole(axis: Axis, { hole }: Fragment): Axis {
  if (!hole?.isCut) return axis
  return { ...axis, shift90k: axis.shift90k + Math.max(0, hole.durationMs * 90 - holeSeam90k) }
}

/** Rounded as the recorder rounds. */
function shiftTicks({ runStart90k, runBase90k, shift90k }: Axis, timescale: number): number {
  return scaleTicks(runStart90k, timescale) - scaleTicks(runBase90k, timescale) + scaleTicks(shift90k, timescale)
}

/** Each sample lasts until the next one begins. Answers where the first of these begins. */
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
