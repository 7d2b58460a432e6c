// Which footage: a day by the local clock, or from one moment to another.

export class UsageError extends Error {}

/** @returns {{ start: Date, end: Date, label: string }} not beyond now; `label` is for names of files. */
export function readRange({ date, from, to }, now) {
  if (date !== undefined && from !== undefined) throw new UsageError('--date and --from: either, not both')
  if (to !== undefined && from === undefined) throw new UsageError('--to needs --from')
  const asked =
    from === undefined
      ? readDay(date, now)
      : { start: readTime('--from', from), end: to === undefined ? now : readTime('--to', to) }
  if (asked.start >= now) throw new UsageError(`${from === undefined ? '--date' : '--from'}: that has not begun yet`)
  if (asked.start >= asked.end) throw new UsageError('--to: expected a time after --from')
  const { start } = asked
  if (asked.end <= now && asked.day) return { start, end: asked.end, label: asked.day }
  const end = new Date(Math.min(asked.end, now))
  return { start, end, label: `${stamp(start)}-to-${stamp(end)}` }
}

/** From midnight to midnight, 23 or 25 hours when the clock is changed. */
function readDay(date, now) {
  const start = date === undefined ? new Date(now) : new Date(`${date}T00:00:00`)
  if (date === undefined) start.setDate(start.getDate() - 1)
  start.setHours(0, 0, 0, 0)
  const day = stamp(start).slice(0, 10)
  if (date !== undefined && date !== day) throw new UsageError(`--date: expected a day as 2026-11-20, got "${date}"`)
  const end = new Date(start)
  end.setDate(end.getDate() + 1)
  return { day, start, end }
}

function readTime(option, text) {
  const time = new Date(text)
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && !Number.isNaN(time.getTime())
  if (!isTime) throw new UsageError(`${option}: expected a time as 2026-11-20T22:00, got "${text}"`)
  return time
}

/** By the local clock. */
function stamp(time) {
  const two = (number) => String(number).padStart(2, '0')
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  return `${day}-${two(time.getHours())}${two(time.getMinutes())}${two(time.getSeconds())}`
}
