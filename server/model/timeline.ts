// What a timeline shows: the recorded stretches of a range of time, and why there is nothing between them.

/** A recorded stretch, Unix milliseconds: one file of the archive, or several. */
export type Span = {
  readonly startMs: number
  readonly endMs: number
  /** Why there was no footage just before; undefined when it continues what is before. */
  readonly gapReason: string | undefined
}

export type TimelineGap = { readonly startMs: number; readonly endMs: number; readonly reason: string }

export type Timeline = {
  readonly segments: readonly { readonly startMs: number; readonly endMs: number }[]
  readonly gaps: readonly TimelineGap[]
}

/** From `atMs` on nothing is recorded, for this reason, as long as there is no footage; undefined: it is again. */
export type GapMark = { readonly atMs: number; readonly reason: string | undefined }

export type TimelineRequest = {
  readonly startMs: number
  readonly endMs: number
  /** First and newest footage of the camera; undefined when there is none. Gaps are told inside it, and up to now while one lasts. */
  readonly footage: { readonly startMs: number; readonly endMs: number } | undefined
  /** The `gapReason` of the first span after the range, where there is one. */
  readonly nextGapReason?: string | undefined
  /** The last one before the range, and those of it, in order. */
  readonly marks?: readonly GapMark[]
  readonly nowMs?: number
}

/** Breaks of up to this length do not split a segment. */
export const maxBreakMs = 2000

/** A gap's end of footage and its mark are told by different clocks, and the fragment that was open may still have been written. */
const markLatenessMs = 5000

/**
 * Segments are clipped to the request, then their start is rounded down and their end up to the second. Gaps fill the room
 * between segments, and between them and the ends of the request as far as the camera has footage beyond, or, while a gap lasts, up to
 * now. A gap has the reason it began with, and another from each mark on that tells of another: an outage in which the server was down too
 * is three gaps. One whose reason nobody recorded is 'unknown'. `spans` overlap the request and are ordered by start; they may overlap
 * each other.
 */
export function buildTimeline(spans: readonly Span[], request: TimelineRequest): Timeline {
  const segments: { startMs: number; endMs: number }[] = []
  const gaps: TimelineGap[] = []
  const { footage, nextGapReason, marks = [], nowMs = Number.NEGATIVE_INFINITY } = request
  let last: { startMs: number; endMs: number } | undefined
  // Where a gap would begin: at the newest footage so far, or at the start of the request if there is older footage.
  let gapStartMs = footage && footage.startMs < request.startMs ? request.startMs : undefined

  const addGap = (endMs: number, reason: string | undefined) => {
    if (gapStartMs !== undefined && gapStartMs < endMs) gaps.push(...splitGap(gapStartMs, endMs, reason, request))
  }

  let lastEndMs = Number.NEGATIVE_INFINITY
  for (const span of spans) {
    const startMs = Math.max(span.startMs, request.startMs)
    const endMs = Math.min(span.endMs, request.endMs)
    if (endMs <= startMs) continue
    if (last && startMs - lastEndMs <= maxBreakMs) {
      lastEndMs = Math.max(lastEndMs, endMs)
      last.endMs = ceilSecond(lastEndMs)
    } else {
      last = { startMs: floorSecond(startMs), endMs: ceilSecond(endMs) }
      addGap(last.startMs, span.gapReason)
      segments.push(last)
      lastEndMs = endMs
    }
    gapStartMs = last.endMs
  }
  if (footage && footage.endMs > request.endMs) addGap(request.endMs, nextGapReason)
  else if (footage && isGapOpen(footage.endMs, marks)) {
    gapStartMs ??= Math.max(request.startMs, ceilSecond(footage.endMs))
    addGap(Math.min(request.endMs, floorSecond(nowMs)), undefined)
  }
  return { segments, gaps }
}

/** True when the last that is known is that nothing is recorded, and no footage says otherwise. */
export function isGapOpen(footageEndMs: number, marks: readonly GapMark[]): boolean {
  const last = marks.at(-1)
  return last?.reason !== undefined && last.atMs > footageEndMs - markLatenessMs
}

/** `reason`: the one it began with, where the footage behind it tells it. */
function splitGap(startMs: number, endMs: number, reason: string | undefined, request: TimelineRequest): TimelineGap[] {
  const { marks = [] } = request
  const inside = marks.filter(({ atMs }) => atMs > startMs && atMs < endMs)
  const before = marks.findLast(({ atMs }) => atMs <= startMs)
  // Where footage ends only a mark made then is about it; where the request cuts a gap, the last one before still holds.
  const isAbout = before !== undefined && (startMs === request.startMs || before.atMs >= startMs - markLatenessMs)
  const late = inside.find((mark) => mark.reason !== undefined && mark.atMs <= startMs + markLatenessMs)
  const early = isAbout && before.reason !== undefined ? before : late
  const later = inside.filter((mark) => mark !== early)
  const told = early?.reason ?? reason ?? later.find((mark) => mark.reason !== undefined)?.reason
  const gaps: TimelineGap[] = [{ startMs, endMs, reason: told ?? 'unknown' }]
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
