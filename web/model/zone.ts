// Clock and calendar of a time zone: what people read off a clock there, and which moment they mean by it. Days have 23, 24 or 25
// hours. Moments are Unix milliseconds; zones are IANA names.

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
  /** What to add to UTC at a moment, milliseconds. */
  offsetMs(ms: number): number
}

const dayMs = 86_400_000

/** Throws RangeError for a name that is no zone's. */
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
 * The moment a clock there shows this. One that it skips in spring is taken as if the clock had not been put forward; of one that comes
 * twice in autumn it is the first. Fields beyond their range carry over: day 0 is the last of the month before.
 */
export function momentOf(local: LocalTime, zone: Zone): number {
  const utcMs = asUtc(local)
  const [before, after] = [zone.offsetMs(utcMs - dayMs), zone.offsetMs(utcMs + dayMs)]
  const found = [utcMs - before, utcMs - after].find((ms) => ms + zone.offsetMs(ms) === utcMs)
  return found ?? utcMs - before
}

/** Midnight, or the first moment of a day that has none. `days` later than the day that holds `ms`. */
export function startOfDay(ms: number, zone: Zone, days = 0): number {
  const { year, month, day } = zone.localTime(ms)
  return momentOf({ year, month, day: day + days, hour: 0, minute: 0, second: 0 }, zone)
}

function asUtc({ year, month, day, hour, minute, second }: LocalTime): number {
  return Date.UTC(year, month - 1, day, hour, minute, second)
}
