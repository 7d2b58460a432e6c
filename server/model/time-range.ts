// The range of time a request names: read, ordered, and not longer than allowed.

import { AppError } from '../base/error.ts'
import { parseTime, timeFormatMessage } from './time.ts'

/** [startMs, endMs) in Unix milliseconds. */
export type TimeRange = { readonly startMs: number; readonly endMs: number }

/** As `TimeRange`, open where a bound is missing. */
export type OpenRange = { readonly startMs?: number | undefined; readonly endMs?: number | undefined }

/** A day of any calendar: the one on which the clocks are set back has 25 hours. */
export const maxTimelineMs = 25 * 3_600_000

/** An instant of a request. Throws 'invalid' naming `field`. */
export function getTime(field: string, text: string): number {
  const timeMs = parseTime(text)
  if (timeMs === undefined) throw invalid(field, timeFormatMessage)
  return timeMs
}

/** An instant of a request after `nowMs`. Throws 'invalid' naming `field`. */
export function getFutureTime(field: string, text: string, nowMs: number): number {
  const timeMs = getTime(field, text)
  if (timeMs <= nowMs) throw invalid(field, 'This time is in the past.')
  return timeMs
}

/**
 * Throws 'invalid' naming the field when a bound is no time, the end is not after the start, or the range is too long.
 */
export function getTimeRange(query: { start: string; end: string }, maxMs = Number.POSITIVE_INFINITY): TimeRange {
  const startMs = getTime('start', query.start)
  const endMs = getTime('end', query.end)
  if (endMs <= startMs) throw invalid('end', 'The end must be later than the start.')
  if (endMs - startMs > maxMs) throw invalid('end', `The range must not be longer than ${maxMs / 3_600_000} hours.`)
  return { startMs, endMs }
}

/** As `getTimeRange`, where either bound may be missing. */
export function getOpenTimeRange({ start, end }: { start?: string | undefined; end?: string | undefined }): OpenRange {
  if (start !== undefined && end !== undefined) return getTimeRange({ start, end })
  return {
    startMs: start === undefined ? undefined : getTime('start', start),
    endMs: end === undefined ? undefined : getTime('end', end),
  }
}

function invalid(field: string, reason: string): AppError {
  return new AppError('invalid', `${field}: ${reason}`, { fields: { [field]: [reason] } })
}
