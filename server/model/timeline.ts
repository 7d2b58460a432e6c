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

export type TimelineRequest = {
  readonly startMs: number
  readonly endMs: number
  /** First and newest footage of the camera; undefined when there is none. Gaps are only told inside it. */
  readonly footage: { readonly startMs: number; readonly endMs: number } | undefined
  /** The `gapReason` of the first span after the range, where there is one. */
  readonly nextGapReason?: string | undefined
}

/** Breaks of up to this length do not split a segment. */
export const maxBreakMs = 2000

/**
 * Segments are clipped to the request, then their start is rounded down and their end up to the second. Gaps fill the room
 * between segments, and between them and the ends of the request as far as the camera has footage beyond; a gap whose
 * reason nobody recorded has the reason 'unknown'. `spans` overlap the request and are ordered by start; they may overlap each other.
 */
export function buildTimeline(spans: readonly Span[], request: TimelineRequest): Timeline {
  const segments: { startMs: number; endMs: number }[] = []
  const gaps: TimelineGap[] = []
  const { footage, nextGapReason } = request
  let last: { startMs: number; endMs: number } | undefined
  // Where a gap would begin: at the newest footage so far, or at the start of the request if there is older footage.
  let gapStartMs = footage && footage.startMs < request.startMs ? request.startMs : undefined

  const addGap = (endMs: number, reason: string | undefined) => {
    if (gapStartMs !== undefined && gapStartMs < endMs)
      gaps.push({ startMs: gapStartMs, endMs, reason: reason ?? 'unknown' })
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
  return { segments, gaps }
}

const floorSecond = (ms: number) => Math.floor(ms / 1000) * 1000
const ceilSecond = (ms: number) => Math.ceil(ms / 1000) * 1000
