// Retention time, as the API writes it (an ISO 8601 duration) and as users choose it.

const dayMs = 86_400_000

/** The choices offered. Other values stay unchanged until the user picks one of these. */
export const usualRetentions = ['P1D', 'P3D', 'P7D', 'P14D', 'P30D', 'P90D'] as const

/** In days, possibly fractional; undefined if the text is no such duration. */
export function readDays(retention: string): number | undefined {
  const [, ...parts] =
    /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(retention) ?? []
  if (parts.every((part) => part === undefined)) return undefined
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0))
  return weeks * 7 + days + (hours * 3_600_000 + minutes * 60_000 + seconds * 1000) / dayMs
}
