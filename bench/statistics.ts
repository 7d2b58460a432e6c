// Averages that a single bad second does not spoil.

/** Throws for an empty list. */
export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

/** By linear interpolation between the nearest ranks. Throws for an empty list. */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) throw new Error('expected at least one value')
  const sorted = Float64Array.from(values).sort()
  const place = ((sorted.length - 1) * percent) / 100
  const below = sorted[Math.floor(place)]!
  const above = sorted[Math.ceil(place)]!
  return below + (above - below) * (place - Math.floor(place))
}

export function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}
