// A range of time as full UTC days and the edges that are left of it, so that what is counted by day need not be
// counted again.

import type { OpenRange } from './time-range.ts'

export const dayMs = 86_400_000

/** Days since 1970-01-01; [fromDay, toDay), open where a bound is missing. */
export type DayRange = { readonly fromDay?: number | undefined; readonly toDay?: number | undefined }

/** A part of less than a day, or full days. */
export type RangePart =
  | { readonly kind: 'edge'; readonly startMs: number; readonly endMs: number }
  | ({ readonly kind: 'days' } & DayRange)

export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / dayMs)
}

/** The parts of the range, newest first, none of them empty. `startMs` is before `endMs`. */
export function splitDays({ startMs, endMs }: OpenRange): RangePart[] {
  const fromDay = startMs === undefined ? undefined : dayOf(startMs + dayMs - 1)
  const toDay = endMs === undefined ? undefined : dayOf(endMs)
  if (startMs !== undefined && endMs !== undefined && fromDay! > toDay!) return [{ kind: 'edge', startMs, endMs }]
  const parts: RangePart[] = []
  if (endMs !== undefined && endMs > toDay! * dayMs) parts.push({ kind: 'edge', startMs: toDay! * dayMs, endMs })
  if (fromDay === undefined || toDay === undefined || fromDay < toDay) parts.push({ kind: 'days', fromDay, toDay })
  if (startMs !== undefined && startMs < fromDay! * dayMs) {
    parts.push({ kind: 'edge', startMs, endMs: fromDay! * dayMs })
  }
  return parts
}
