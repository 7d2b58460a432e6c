// Splits a time range into full UTC days and the remaining edges, so that events counted by day need not be counted
// again.

import type { OpenRange } from './time-range.ts'

export const dayMs = 86_400_000

/** Days since 1970-01-01; [fromDay, toDay), open if a bound is missing. */
export type DayRange = { readonly fromDay?: number | undefined; readonly toDay?: number | undefined }

/** Part of a day, or full days. */
export type RangePart =
  | { readonly kind: 'edge'; readonly startMs: number; readonly endMs: number }
  | ({ readonly kind: 'days' } & DayRange)

export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / dayMs)
}

/** The non-empty parts of the range, newest first. `startMs` must be before `endMs`. */
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
