// ISO 8601 durations as they appear in retention: weeks, days, hours, minutes, seconds. Not years and months, whose length
// depends on when they begin.

import { AppError } from '../base/error.ts'

const pattern = /^P(?:(\d{1,5})W|(?:(\d{1,5})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,10})S)?)?)$/
const maxMs = 100 * 365.25 * 86_400_000

/** "P7D" -> milliseconds. Throws 'invalid' for anything else than a duration of more than 0 and at most 100 years. */
export function parseDurationMs(text: string): number {
  const match = pattern.exec(text)
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = (match ?? [])
    .slice(1)
    .map((part) => Number(part ?? 0))
  const durationMs = ((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000
  if (!match || durationMs <= 0 || durationMs > maxMs) {
    throw new AppError('invalid', `"${text.slice(0, 40)}" is not a duration such as P7D or PT12H, up to 100 years.`)
  }
  return durationMs
}
