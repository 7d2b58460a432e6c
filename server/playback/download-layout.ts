// A range of footage as one progressive MP4: its head, and which bytes of which files follow. Only the heads of the fragments are read. The
// result depends on the footage and the range alone.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { AppError } from '../base/error.ts'
import { parseFragmentSamples, type TrackSamples } from '../media/mp4/fragment-samples.ts'
import { videoTrackId } from '../media/mp4/init-segment.ts'
import { writeProgressiveHead } from '../media/mp4/progressive-head.ts'
import { parseTimescales, scaleTicks } from '../media/mp4/timescale.ts'
import type { Fragment, Segment } from '../model/segment.ts'
import { openRecording, readExactly, readMoof } from './recording-file.ts'

export type DownloadPart = {
  readonly path: string
  /** Of the fragment, which begins with its seal. */
  readonly fragmentOffset: number
  /** Of the samples in the file of the archive. */
  readonly offset: number
  readonly bytes: number
  /** Of the samples in the download. */
  readonly at: number
}

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
  readonly sizes: number[]
  readonly durations: number[]
  readonly compositionOffsets: number[]
  readonly isKey: boolean[]
  readonly chunks: { offset: number; samples: number }[]
  readonly firstTicks: number
  lastTicks: number
}

/** A file's place on the axis of the download, see `createShift` of playback. */
type Axis = { readonly runStart90k: number; readonly runBase90k: number; readonly shift90k: number }

/** A file that begins within so much of the end of the one before continues it. */
const maxSeam90k = 9000

/** Throws 'invalid' naming the moment when what was recorded changes its format within the range, 'not_found' when there is nothing. */
export function checkOneFormat(segments: readonly Segment[]): void {
  const [first] = segments
  if (!first) throw new AppError('not_found', 'Nothing is recorded in this range.')
  const other = segments.find(({ initHash }) => initHash !== first.initHash)
  if (!other) return
  const moment = new Date(other.startMs).toISOString()
  const reason = `The camera changed its format at ${moment}: download what is before and what is after it separately.`
  throw new AppError('invalid', reason, { fields: { end: [reason] } })
}

/** `segments` in the order of their start, all of the range. Throws as `checkOneFormat`, and 'corrupt'. */
export async function createDownloadLayout(
  archiveDir: string,
  segments: readonly Segment[],
  { startMs, endMs, keepsGaps }: DownloadRange,
): Promise<DownloadLayout> {
  checkOneFormat(segments)
  const tracks = new Map<number, Track>()
  const parts: DownloadPart[] = []
  let init = new Uint8Array() as Uint8Array
  let timescales: ReadonlyMap<number, number> = new Map()
  let dataBytes = 0
  let start90k: number | undefined
  let end90k = 0
  let before: { segment: Segment; axis: Axis } | undefined
  const scaleOf = (trackId: number) => timescales.get(trackId) ?? 90_000

  for (const segment of segments) {
    const fragments = chooseFragments(segment.fragments, startMs, endMs)
    if (fragments.length === 0) continue
    const path = join(archiveDir, segment.path)
    await using file = await openRecording(path)
    if (!before) {
      init = await readExactly(file, 0, segment.initBytes)
      timescales = parseTimescales(init)
    }
    let lastEnd90k = 0
    for (const [trackId, track] of tracks) {
      const endTicks = track.lastTicks + track.durations.at(-1)!
      lastEnd90k = Math.max(lastEnd90k, Math.ceil((endTicks * 90_000) / scaleOf(trackId)))
    }
    const axis = placeFile(segment, before, lastEnd90k, keepsGaps)
    before = { segment, axis }
    for (const fragment of fragments) {
      const { moof, offset } = await readMoof(file, fragment, segment.cameraId)
      const found = parseFragmentSamples(moof)
      const dataStart = offset + Math.min(...found.map(({ dataOffset }) => dataOffset))
      const bytes = fragment.offset + fragment.bytes - dataStart
      for (const samples of found) {
        const chunkStart = offset + samples.dataOffset - dataStart
        if (chunkStart + samples.sizes.reduce((sum, size) => sum + size, 0) > bytes)
          throw new AppError('corrupt', 'expected the samples of a fragment inside it')
        const baseTicks = samples.baseDecodeTime + shiftTicks(axis, scaleOf(samples.trackId))
        const firstTicks = addSamples(tracks, samples, baseTicks, dataBytes + chunkStart)
        if (samples.trackId !== videoTrackId) continue
        const shown90k = firstTicks + samples.compositionOffsets[0]!
        start90k ??= shown90k + Math.max(0, startMs - fragment.startMs) * 90
        end90k = shown90k + Math.min(endMs - fragment.startMs, fragment.durationMs) * 90
      }
      parts.push({ path, fragmentOffset: fragment.offset, offset: dataStart, bytes, at: dataBytes })
      dataBytes += bytes
    }
  }
  if (start90k === undefined || end90k <= start90k)
    throw new AppError('not_found', 'Nothing is recorded in this range.')

  const from90k = start90k
  const described = [...tracks].map(([trackId, track]) => {
    const timescale = scaleOf(trackId)
    return { trackId, ...track, timescale, startTicks: scaleTicks(from90k, timescale) - track.firstTicks }
  })
  const head = writeProgressiveHead(init, described, { duration90k: end90k - from90k, dataBytes })
  const moved = parts.map((part) => ({ ...part, at: part.at + head.length }))
  const places = moved.map(({ path, offset }) => `${path} ${offset}`).join('\n')
  const etag = createHash('sha256').update(head).update(places).digest('hex').slice(0, 32)
  return { head, parts: moved, totalBytes: head.length + dataBytes, etag: `"${etag}"` }
}

/** From the group of pictures that holds the start on. */
function chooseFragments(fragments: readonly Fragment[], startMs: number, endMs: number): readonly Fragment[] {
  const first = fragments.findLastIndex((fragment) => fragment.isKey && fragment.startMs <= startMs)
  return fragments.slice(Math.max(0, first)).filter((fragment) => fragment.startMs < endMs)
}

function placeFile(
  segment: Segment,
  before: { readonly segment: Segment; readonly axis: Axis } | undefined,
  lastEnd90k: number,
  keepsGaps: boolean,
): Axis {
  const { runStart90k } = segment
  if (!before) return { runStart90k, runBase90k: runStart90k, shift90k: 0 }
  const last = before.segment.fragments.at(-1)!
  const runEnd90k = before.segment.runStart90k + last.start90k + last.duration90k
  const isSeamless = before.segment.runId === segment.runId && Math.abs(runStart90k - runEnd90k) <= maxSeam90k
  if (isSeamless) return { ...before.axis, runStart90k }
  const since90k = shiftTicks(before.axis, 90_000) + (segment.startMs - before.segment.startMs) * 90
  return { runStart90k, runBase90k: runStart90k, shift90k: keepsGaps ? Math.max(lastEnd90k, since90k) : lastEnd90k }
}

/** Rounded as the recorder rounds. */
function shiftTicks({ runStart90k, runBase90k, shift90k }: Axis, timescale: number): number {
  return scaleTicks(runStart90k, timescale) - scaleTicks(runBase90k, timescale) + scaleTicks(shift90k, timescale)
}

/** Each sample lasts until the next one begins. Answers where the first of these begins. */
function addSamples(tracks: Map<number, Track>, samples: TrackSamples, baseTicks: number, offset: number): number {
  let track = tracks.get(samples.trackId)
  if (!track) {
    const lists = { sizes: [], durations: [], compositionOffsets: [], isKey: [], chunks: [] }
    track = { ...lists, firstTicks: baseTicks, lastTicks: baseTicks }
    tracks.set(samples.trackId, track)
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
