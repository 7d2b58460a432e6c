// Instants on the wire: what is accepted in requests and the one form answers use (RFC 3339, a subset of ISO 8601).

/**
 * Besides the usual form, as programs print times: a space instead of the T, lower case (RFC 3339 section 5.6), a comma,
 * and offsets without a colon (`%z` of strftime) or after a space.
 */
const timeIn =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,30}))?)?(?: ?(Z|z|UTC)| ?([+\- ])(\d\d)(?::?(\d\d))?)?$/

/** What is wrong with a text that is no time, in words. */
export const timeFormatMessage =
  'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].'

/** Years of four digits, so that whatever is read can be written. */
const earliestMs = Date.parse('0001-01-01T00:00:00Z')
const latestMs = Date.parse('9999-12-31T23:59:59Z')

/**
 * Unix milliseconds, or undefined when `text` is not a time. Seconds, their fraction and the zone may be missing (then
 * UTC); a space before the digits of the offset is the `+` that a query string lost. A leap second is the one after it.
 */
export function parseTime(text: string): number | undefined {
  const match = timeIn.exec(text)
  if (!match) return undefined
  const [
    ,
    year,
    month,
    day,
    hour,
    minute,
    second = '0',
    fraction = '',
    ,
    sign,
    offsetHours = '0',
    offsetMinutes = '0',
  ] = match
  const [h, m, s, zoneHours, zoneMinutes] = [hour, minute, second, offsetHours, offsetMinutes].map(Number)
  if (h! > 23 || m! > 59 || s! > 60 || zoneHours! > 23 || zoneMinutes! > 59 || year === '0000') return undefined
  // Date.parse rolls 31 February over into March: such a day does not come back as it was given.
  const midnightMs = Date.parse(`${year}-${month}-${day}T00:00:00Z`)
  if (Number.isNaN(midnightMs) || new Date(midnightMs).getUTCDate() !== Number(day)) return undefined
  const offsetMs = (zoneHours! * 60 + zoneMinutes!) * 60_000 * (sign === '-' ? -1 : 1)
  const fractionMs = Number(fraction.slice(0, 3).padEnd(3, '0'))
  const timeMs = midnightMs + ((h! * 60 + m!) * 60 + s!) * 1000 + fractionMs - offsetMs
  return timeMs < earliestMs || timeMs > latestMs ? undefined : timeMs
}

/** `YYYY-MM-DDThh:mm:ssZ`; what is left of the last second is cut off. */
export function writeTime(unixMs: number): string {
  return `${new Date(Math.floor(unixMs / 1000) * 1000).toISOString().slice(0, 19)}Z`
}

/** As `writeTime`, rounded up: for the end of something that began before. */
export function writeTimeUp(unixMs: number): string {
  return writeTime(Math.ceil(unixMs / 1000) * 1000)
}
