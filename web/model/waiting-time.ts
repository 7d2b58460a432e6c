// Formats a waiting time in the largest suitable unit. The units are the same in all our languages.

export function formatWaitingTime(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`
  return seconds < 100 * 60 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`
}
