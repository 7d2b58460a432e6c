// Clock and calendar of a time zone: converts between moments and local date and time. Days have 23, 24 or 25 hours.
// Moments are Unix milliseconds; zones are IANA names.

export type LocalTime = {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
}

export type Zone = {
  readonly name: string
  localTime(ms: number): LocalTime
  /** Offset from UTC at a moment, in milliseconds. */
  offsetMs(ms: number): number
}

const dayMs = 86_400_000

/** Throws RangeError for an unknown time zone. */
export function createZone(name: string): Zone {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const localTime = (ms: number): LocalTime => {
    const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
    const { year, month, day, hour, minute, second } = parts as Record<keyof LocalTime, number>
    return { year, month, day, hour, minute, second }
  }
  return {
    name,
    localTime,
    offsetMs: (ms) => asUtc(localTime(ms)) - Math.floor(ms / 1000) * 1000,
  }
}

/**
 * Returns the moment at which a local clock shows this. A time skipped in spring is read as if the clock had not been
 * changed; of a time that occurs twice in autumn, the first is returned. Fields may overflow: day 0 is the last day of
 * the month before.
 */
export function momentOf(local: LocalTime, zone: Zone): number {
  const utcMs = asUtc(local)
  const [before, after] = [zone.offsetMs(utcMs - dayMs), zone.offsetMs(utcMs + dayMs)]
  const found = [utcMs - before, utcMs - after].find((ms) => ms + zone.offsetMs(ms) === utcMs)
  return found ?? utcMs - before
}

/**
 * Returns every moment at which a local clock shows this: none if it is skipped in spring, two if it occurs twice in
 * autumn.
 */
export function momentsOf(local: LocalTime, zone: Zone): number[] {
  const utcMs = asUtc(local)
  const offsets = [zone.offsetMs(utcMs - dayMs), zone.offsetMs(utcMs + dayMs)]
  const found = offsets.map((offsetMs) => utcMs - offsetMs).filter((ms) => ms + zone.offsetMs(ms) === utcMs)
  return [...new Set(found)].sort((a, b) => a - b)
}

/**
 * Parses the value of a form field, for instance `2026-11-21T07:50:00`, seconds optional; undefined for anything else.
 */
export function parseLocalTime(text: string): LocalTime | undefined {
  const found = /^(\d{4,6})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d*)?)?$/.exec(text)
  if (!found) return undefined
  const [year, month, day, hour, minute, second = 0] = found
    .slice(1)
    .map((part) => (part === undefined ? undefined : Number(part))) as [number, number, number, number, number, number?]
  return { year, month, day, hour, minute, second }
}

export function writeLocalTime({ year, month, day, hour, minute, second }: LocalTime): string {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}`
}

/** For instance `UTC+1` or `UTC−3:30`. */
export function writeOffset(ms: number, zone: Zone): string {
  const minutes = Math.round(zone.offsetMs(ms) / 60_000)
  const rest = Math.abs(minutes) % 60
  const hours = Math.floor(Math.abs(minutes) / 60)
  return minutes === 0
    ? 'UTC'
    : `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
}

/** Midnight, or the first moment of a day without midnight. `days` counts from the day that contains `ms`. */
export function startOfDay(ms: number, zone: Zone, days = 0): number {
  const { year, month, day } = zone.localTime(ms)
  return momentOf({ year, month, day: day + days, hour: 0, minute: 0, second: 0 }, zone)
}

function asUtc({ year, month, day, hour, minute, second }: LocalTime): number {
  return Date.UTC(year, month - 1, day, hour, minute, second)
}
