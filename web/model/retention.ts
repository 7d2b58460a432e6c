// How long footage is kept, as the interface writes it (an ISO 8601 duration) and as people choose it.

const dayMs = 86_400_000

/** What is offered; others stay as they are until one of these is chosen. */
export const usualRetentions = ['P1D', 'P3D', 'P7D', 'P14D', 'P30D', 'P90D'] as const

/** In days, maybe a part of one; undefined for what is no such duration. */
export function readDays(retention: string): number | undefined {
  const [, ...parts] =
    /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(retention) ?? []
  if (parts.every((part) => part === undefined)) return undefined
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0))
  return weeks * 7 + days + (hours * 3_600_000 + minutes * 60_000 + seconds * 1000) / dayMs
}
