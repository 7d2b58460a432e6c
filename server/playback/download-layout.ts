// Lays out a range of footage as one progressive MP4: its head, and the ranges of the files that follow. Only the heads
// of the fragments are read. The result depends on nothing but the footage and the range.

import { createHash } from 'node:crypto'
import type { OpenRecording } from '../archive/recording-file.ts'
import { AppError } from '../base/error.ts'
import { videoTrackId } from '../media/mp4/init-segment.ts'
import { writeProgressiveHead } from '../media/mp4/progressive-head.ts'
import { SampleRecordReader } from '../media/mp4/sample-records.ts'
import { scaleTicks } from '../media/mp4/timescale.ts'
import { type Fragment, holeSeam90k, type Segment } from '../model/segment.ts'
import { DownloadData, type DownloadPart } from './download-data.ts'
import { readFormats, type SourceTrack } from './download-formats.ts'
import { DownloadTrack } from './download-track.ts'
import type { RecordedSamples } from './recorded-samples.ts'
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

/** The most recently added fragment. */
type Previous = { readonly segment: Segment; readonly shift: TimeShift; readonly fragment: Fragment }

/** Files whose samples are read at the same time. */
const filesAtOnce = 6

/**
 * `segments` are all segments of the range in the order of their start. Throws 'not_found' when nothing is recorded,
 * and 'corrupt'.
 */
export async function createDownloadLayout(
  open: OpenRecording,
  samples: Pick<RecordedSamples, 'read'>,
  segments: readonly Segment[],
  { startMs, endMs, keepsGaps, isPreceded, isContinued }: DownloadRange,
): Promise<DownloadLayout> {
  const chosen = segments
    .map((segment) => ({ segment, ...selectFragments(segment.fragments, startMs, endMs) }))
    .filter(({ first, end }) => first < end)
  const formats = await readFormats(
    open,
    chosen.map(({ segment }) => segment),
  )
  const tracks = new Map<string, DownloadTrack>()
  const data = new DownloadData()
  let start90k: number | undefined
  let shownMs: number | undefined
  let end90k = 0
  let lastVideo: DownloadTrack | undefined
  let previous: Previous | undefined

  const inOrder = readAhead(chosen, filesAtOnce, ({ segment }) => samples.read(segment))
  for await (const [{ segment, first, end, firstShown }, records] of inOrder) {
    const sources = formats.get(segment.initHash)!
    const reader = new SampleRecordReader(records)
    let lastEnd90k = 0
    for (const { endTicks90k } of tracks.values()) lastEnd90k = Math.max(lastEnd90k, endTicks90k)
    let shift = placeFile(segment, previous, lastEnd90k, keepsGaps)
    for (let i = 0; i < end; i++) {
      const fragment = segment.fragments[i]!
      if (i < first) {
        reader.readRecord(fragment.bytes)
        continue
      }
      if (keepsGaps && i > first) shift = addHole(shift, fragment)
      previous = { segment, shift, fragment }
      reader.readRecord(fragment.bytes, (run) => {
        const source = sources.find(({ sourceId }) => sourceId === run.trackId)
        if (!source) throw new AppError('corrupt', `expected track ${run.trackId} in the initialization section`)
        const track = getTrack(tracks, source)
        track.use(source)
        const place = { segment, fragmentOffset: fragment.offset, offset: fragment.offset + run.dataOffset }
        const at = data.addSamples(place, run, source.parameterSets)
        const firstTicks = track.add(run, run.baseDecodeTime + shiftTicks(shift, source.timescale), at)
        if (run.trackId !== videoTrackId) return
        const shown90k = firstTicks + run.compositionOffsets[0]!
        if (i >= firstShown) {
          const skippedMs = startMs - fragment.startMs
          shownMs ??= keepsGaps && isPreceded ? startMs : Math.max(startMs, fragment.startMs)
          // A gap at the start shows nothing: players do not show a frame that begins before the start.
          start90k ??= shown90k + (keepsGaps && isPreceded ? skippedMs : Math.max(0, skippedMs)) * 90
        }
        const wantedMs = endMs - fragment.startMs
        const isWhole = wantedMs >= fragment.durationMs && !(keepsGaps && isContinued)
        // While the time of a camera is being found out, frames that came late are dated closer together than they are.
        end90k = shown90k + (isWhole ? fragment.duration90k : wantedMs * 90)
        lastVideo = track
        for (const other of tracks.values()) {
          if (!sources.some(({ key }) => key === other.source.key)) other.addSilence(data, firstTicks, track.endTicks)
        }
      })
    }
  }
  if (!lastVideo || start90k === undefined || end90k <= start90k)
    throw new AppError('not_found', 'Nothing is recorded in this range.')
  lastVideo.lastUntil(end90k)

  const from90k = start90k
  const described = [...tracks.values()].map(({ trackId, source, chunks, inits, firstTicks, tables }) => {
    const { timescale, sourceId } = source
    const startTicks = scaleTicks(from90k, timescale) - firstTicks
    return { ...tables, trackId, chunks, inits, sourceId, timescale, startTicks }
  })
  const head = writeProgressiveHead(described, {
    duration90k: end90k - from90k,
    dataBytes: data.bytes,
    startMs: shownMs ?? startMs,
  })
  const hash = createHash('sha256').update(head)
  for (const part of data.parts) {
    part.at += head.length
    if (part.segment) hash.update(`${part.segment.id} ${part.offset}\n`)
  }
  const etag = hash.digest('hex').slice(0, 32)
  return { head, parts: data.parts, totalBytes: head.length + data.bytes, etag: `"${etag}"` }
}

/** Reads some items ahead of the one that is taken. After a failure, the others are waited for. */
async function* readAhead<Item, Value>(
  items: readonly Item[],
  atOnce: number,
  read: (item: Item) => Promise<Value>,
): AsyncGenerator<readonly [Item, Value], void, void> {
  const reading: Promise<Value>[] = []
  try {
    for (const [i, item] of items.entries()) {
      while (reading.length < atOnce && i + reading.length < items.length) {
        reading.push(read(items[i + reading.length]!))
        // The first failure is reported when its item is taken.
        reading.at(-1)!.catch(() => {})
      }
      yield [item, await reading.shift()!]
    }
  } finally {
    await Promise.allSettled(reading)
  }
}

function getTrack(tracks: Map<string, DownloadTrack>, source: SourceTrack): DownloadTrack {
  const found = tracks.get(source.key)
  if (found) return found
  const track = new DownloadTrack(tracks.size + 1, source)
  tracks.set(source.key, track)
  return track
}

/**
 * Returns the fragments [first, end) from the group of pictures that contains the start, or that follows the hole which
 * contains it, and the first one that is shown.
 */
function selectFragments(
  all: readonly Fragment[],
  startMs: number,
  endMs: number,
): { readonly first: number; readonly end: number; readonly firstShown: number } {
  const firstShown = all.findIndex((fragment) => fragment.startMs + fragment.durationMs > startMs)
  const first = Math.max(
    0,
    all.findLastIndex(({ isKey }, i) => isKey && i <= firstShown),
  )
  if (firstShown < 0 || all[firstShown]!.startMs >= endMs) return { first: 0, end: 0, firstShown: 0 }
  const end = all.findLastIndex((fragment) => fragment.startMs < endMs) + 1
  return { first, end, firstShown }
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
