// The time range that the user has marked, and how much of it was recorded. Times are Unix milliseconds.

type Span = { readonly startMs: number; readonly endMs: number }

/** One end may be missing while the user still looks for it. */
export type Marks = { readonly startMs?: number; readonly endMs?: number }

/** The longest range that the server exports as one file. */
export const longestDownloadMs = 3 * 3_600_000

const secondMs = 1000

/** Clears the other end if it would be on the wrong side. */
export function markStart({ endMs }: Marks, ms: number): Marks {
  return endMs !== undefined && endMs > ms ? { startMs: ms, endMs } : { startMs: ms }
}

export function markEnd({ startMs }: Marks, ms: number): Marks {
  return startMs !== undefined && startMs < ms ? { startMs, endMs: ms } : { endMs: ms }
}

/** Creates a range from two moments in either order. */
export function markBetween(oneMs: number, otherMs: number): Marks {
  return { startMs: Math.min(oneMs, otherMs), endMs: Math.max(oneMs, otherMs) }
}

/** Both ends rounded outward to whole seconds; undefined while one is missing. */
export function rangeOf({ startMs, endMs }: Marks): Span | undefined {
  if (startMs === undefined || endMs === undefined || endMs <= startMs) return undefined
  return { startMs: Math.floor(startMs / secondMs) * secondMs, endMs: Math.ceil(endMs / secondMs) * secondMs }
}

/** `segments` must not overlap. */
export function recordedMsIn({ startMs, endMs }: Span, segments: readonly Span[]): number {
  return segments.reduce(
    (sum, segment) => sum + Math.max(0, Math.min(endMs, segment.endMs) - Math.max(startMs, segment.startMs)),
    0,
  )
}

/** For instance `1 h 2 min 5 s`, rounded to seconds. The units are the same in all our languages. */
export function writeDuration(ms: number): string {
  const seconds = Math.round(ms / secondMs)
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const
  const written = parts.filter(([value]) => value > 0).map(([value, unit]) => `${value}\u00a0${unit}`)
  return written.length === 0 ? '0\u00a0s' : written.join(' ')
}
