// ISO 8601 durations for retention: weeks, days, hours, minutes, seconds. Years and months are excluded, because their
// length varies.

import { AppError } from '../base/error.ts'

const number = String.raw`(\d{1,12})`
const pattern = new RegExp(
  `^P(?:${number}W|(?:${number}D)?(?:T(?=\\d)(?:${number}H)?(?:${number}M)?(?:${number}S)?)?)$`,
)
const calendarPattern = /^P(?=.)(?:\d{1,12}Y)?(?:\d{1,12}M)?(?:\d{1,12}D)?(?:T[\dHMS]+)?$/
const maxMs = 100 * 365.25 * 86_400_000

/** "P7D" -> milliseconds. Throws 'invalid' for anything but a duration of more than 0 and at most 100 years. */
export function parseDurationMs(text: string): number {
  const match = pattern.exec(text)
  const shown = `"${text.slice(0, 40)}"`
  if (!match) {
    if (calendarPattern.test(text)) throw invalid(`${shown} counts years or months, which differ in length. ${advice}`)
    throw invalid(`${shown} is not a duration. ${advice}`)
  }
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((part) => Number(part ?? 0))
  const durationMs = ((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000
  if (durationMs <= 0) throw invalid(`${shown} is no time at all. ${advice}`)
  if (durationMs > maxMs) throw invalid(`${shown} is longer than 100 years, which are P36525D.`)
  return durationMs
}

const advice = 'Give weeks, days, hours, minutes or seconds, such as P7D or PT12H.'

function invalid(message: string): AppError {
  return new AppError('invalid', message)
}
