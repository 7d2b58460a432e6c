// Formats how long ago something happened: "yesterday", "5 minutes ago".

/** `now` is the text for the last half minute. */
export function createAgo(language: string, now: string): (ms: number) => string {
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  return (ms) => {
    const minutes = Math.round(ms / 60_000)
    if (minutes < 1) return now
    if (minutes < 60) return relative.format(-minutes, 'minute')
    if (minutes < 24 * 60) return relative.format(-Math.round(minutes / 60), 'hour')
    return relative.format(-Math.round(minutes / 1440), 'day')
  }
}
