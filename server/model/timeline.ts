// What a timeline shows: the recorded stretches of a range of time, and why there is nothing between them.

import type { FootageHole } from './footage-hole.ts'
import { clockSet, type GapMark, isGapOpen, markLatenessMs } from './gap-mark.ts'
import type { FootageBounds } from './segment-views.ts'

/** A recorded stretch, Unix milliseconds: one file of the archive, or several. */
export type Span = {
  readonly startMs: number
  readonly endMs: number
  /** Why there was no footage just before; undefined when it continues what is before. */
  readonly gapReason: string | undefined
  /** See clock-epoch.ts; undefined: the first. */
  readonly epoch?: number | undefined
  /** Times inside it without video, in order. */
  readonly holes?: readonly FootageHole[] | undefined
}

export type TimelineGap = { readonly startMs: number; readonly endMs: number; readonly reason: string }

export type Timeline = {
  readonly segments: readonly { readonly startMs: number; readonly endMs: number }[]
  readonly gaps: readonly TimelineGap[]
}

export type TimelineRequest = {
  readonly startMs: number
  readonly endMs: number
  /**
   * First and newest footage of the camera; undefined when there is none. Gaps are reported inside it, and up to now while
   * one lasts.
   */
  readonly footage: Pick<FootageBounds, 'startMs' | 'endMs' | 'newest'> | undefined
  /** The first span after the range, where there is one. */
  readonly next?: Pick<Span, 'gapReason' | 'epoch'> | undefined
  /** Of each epoch the last one before the range, and those of it, in the order of recording. */
  readonly marks?: readonly GapMark[]
  readonly nowMs?: number
}

/** Breaks of up to this length do not split a segment. */
export const maxBreakMs = 2000

/**
 * Breaks of up to this length are no gap; those above it whose reason is known are, also where they do not split a
 * segment.
 */
const maxUnreportedMs = 1000

/**
 * Segments are clipped to the request, then their start is rounded down and their end up to the second. Gaps fill the
 * room between segments, and between them and the ends of the request as far as the camera has footage beyond, or,
 * while a gap lasts, up to now. A gap has the reason it began with, and another from each mark on that tells of
 * another: an outage in which the server was down too is three gaps. One whose reason nobody recorded is 'unknown'. A
 * gap that does not split its segment lies inside it, in whole seconds too. `spans` overlap the request and come in the
 * order of recording. Where the clock was set back, the segments of the next epoch follow, which overlap those before;
 * between them stands a gap of no length, with the reason 'clock_set', where the epoch before ends. If nothing was
 * recorded when that happened, marks tell when it was: the gap before ends there by the old time, and one of the next
 * epoch begins by the new time.
 */
export function buildTimeline(spans: readonly Span[], request: TimelineRequest): Timeline {
  const segments: { startMs: number; endMs: number }[] = []
  const gaps: TimelineGap[] = []
  const { footage, next, marks = [], nowMs = Number.NEGATIVE_INFINITY } = request
  let last: { startMs: number; endMs: number } | undefined
  // Where a gap would begin: at the newest footage so far, or at the start of the request if there is older footage.
  let gapStartMs = footage && footage.startMs < request.startMs ? request.startMs : undefined
  let epoch: number | undefined
  /** Start of the span before the gap. */
  let beforeMs = Number.NEGATIVE_INFINITY

  const addGap = (endMs: number, reason: string | undefined, fromMs = Number.NEGATIVE_INFINITY) => {
    if (gapStartMs === undefined || Math.max(gapStartMs, fromMs) >= endMs) return
    const parts = splitGap({ startMs: gapStartMs, endMs, reason, beforeMs }, marksOf(epoch), request.startMs)
    for (const part of parts) if (part.endMs > fromMs) gaps.push({ ...part, startMs: Math.max(part.startMs, fromMs) })
  }
  const marksOf = (of = 0) => marks.filter((mark) => (mark.epoch ?? 0) === of)
  const beginEpoch = (next: number) => {
    if (last) {
      const setMs = marksOf(epoch).findLast(({ reason }) => reason === clockSet)?.atMs ?? Number.NEGATIVE_INFINITY
      const endMs = Math.max(last.endMs, Math.min(floorSecond(setMs), request.endMs))
      addGap(endMs, undefined)
      gaps.push({ startMs: endMs, endMs, reason: clockSet })
    }
    epoch = next
    last = undefined
    beforeMs = Number.NEGATIVE_INFINITY
    const first = marksOf(next).find(({ reason }) => reason !== undefined)
    gapStartMs = first && Math.max(request.startMs, ceilSecond(first.atMs))
  }

  let lastEndMs = Number.NEGATIVE_INFINITY
  let coveredMs = Number.NEGATIVE_INFINITY
  for (const span of spans.flatMap(splitAtHoles)) {
    const startMs = Math.max(span.startMs, request.startMs)
    const endMs = Math.min(span.endMs, request.endMs)
    if (endMs <= startMs) continue
    if (epoch !== undefined && epoch !== (span.epoch ?? 0)) beginEpoch(span.epoch ?? 0)
    epoch = span.epoch ?? 0
    if (last && startMs - lastEndMs <= maxBreakMs) {
      const isReported = startMs - lastEndMs > maxUnreportedMs && span.gapReason !== undefined
      if (isReported) gaps.push({ ...roundGap(lastEndMs, startMs), reason: span.gapReason })
      lastEndMs = Math.max(lastEndMs, endMs)
      last.endMs = ceilSecond(lastEndMs)
    } else {
      last = { startMs: floorSecond(startMs), endMs: ceilSecond(endMs) }
      addGap(last.startMs, span.gapReason)
      segments.push(last)
      lastEndMs = endMs
    }
    gapStartMs = last.endMs
    beforeMs = span.startMs
    coveredMs = Math.max(coveredMs, last.endMs)
  }
  if (!footage) return { segments, gaps }
  const newest = footage.newest ?? { epoch: 0, endMs: footage.endMs }
  const isOpen = isGapOpen(newest, marks)
  const openEpoch = isOpen ? (marks.at(-1)!.epoch ?? 0) : newest.epoch
  // Since the clock was set back, the newest footage may be later than the request.
  const isOfLaterEpoch = openEpoch > newest.epoch
  if (isOpen && (isOfLaterEpoch || newest.endMs <= request.endMs)) {
    // It goes on whatever earlier epochs have at these times.
    const openMs = isOfLaterEpoch ? marksOf(openEpoch)[0]!.atMs : newest.endMs
    const startMs = Math.max(request.startMs, ceilSecond(openMs))
    const endMs = Math.min(request.endMs, floorSecond(nowMs))
    if (epoch !== openEpoch && startMs < endMs) beginEpoch(openEpoch)
    epoch = openEpoch
    gapStartMs = startMs
    addGap(endMs, undefined)
  } else if (footage.endMs > request.endMs) {
    epoch ??= next?.epoch
    // What follows the last segment may have been recorded in an earlier epoch.
    addGap(request.endMs, next?.gapReason, coveredMs)
  }
  return { segments, gaps }
}

/** What is on either side of its holes. */
function splitAtHoles(span: Span): readonly Span[] {
  if (!span.holes?.length) return [span]
  const parts: Span[] = []
  let { startMs, gapReason } = span
  for (const hole of span.holes) {
    parts.push({ startMs, endMs: hole.startMs, gapReason })
    startMs = hole.endMs
    gapReason = hole.reason
  }
  return [...parts, { startMs, endMs: span.endMs, gapReason }].map((part) => ({ ...part, epoch: span.epoch }))
}

/** The whole seconds inside it; of one that holds none, the second that it fills most of. */
function roundGap(startMs: number, endMs: number): { startMs: number; endMs: number } {
  const inside = { startMs: ceilSecond(startMs), endMs: floorSecond(endMs) }
  if (inside.startMs < inside.endMs) return inside
  const nearestMs = Math.round((startMs + endMs) / 2000 - 0.5) * 1000
  return { startMs: nearestMs, endMs: nearestMs + 1000 }
}

type OpenGap = Omit<TimelineGap, 'reason'> & { readonly reason: string | undefined; readonly beforeMs: number }

/**
 * `reason`: the one it began with, where the footage behind it tells it. `beforeMs`: start of the footage before it.
 */
function splitGap(
  { startMs, endMs, reason, beforeMs }: OpenGap,
  marks: readonly GapMark[],
  requestStartMs: number,
): TimelineGap[] {
  const inside = marks.filter(({ atMs }) => atMs > startMs && atMs < endMs)
  const before = marks.findLast(({ atMs }) => atMs <= startMs)
  // Where footage ends only a mark made then is about it; where the request cuts a gap, the last one before still
  // holds. A mark from before that footage is about the gap before it.
  const fromMs = Math.max(startMs - markLatenessMs, beforeMs)
  const isAbout = before !== undefined && (startMs === requestStartMs || before.atMs >= fromMs)
  const late = inside.find((mark) => mark.reason !== undefined && mark.atMs <= startMs + markLatenessMs)
  const early = isAbout && before.reason !== undefined ? before : late
  const later = inside.filter((mark) => mark !== early)
  const found = early?.reason ?? reason ?? later.find((mark) => mark.reason !== undefined)?.reason
  const gaps: TimelineGap[] = [{ startMs, endMs, reason: found ?? 'unknown' }]
  for (const mark of later) {
    const last = gaps.at(-1)!
    const atMs = floorSecond(mark.atMs)
    // A mark that recording goes on, without footage behind it: it did not.
    if (mark.reason === undefined || mark.reason === last.reason) continue
    const next = { startMs: Math.max(last.startMs, atMs), endMs, reason: mark.reason }
    // What held for less than a second is not shown.
    gaps.splice(-1, 1, ...(atMs > last.startMs ? [{ ...last, endMs: atMs }] : []), next)
  }
  return gaps
}

const floorSecond = (ms: number) => Math.floor(ms / 1000) * 1000
const ceilSecond = (ms: number) => Math.ceil(ms / 1000) * 1000
