// Refresh intervals. Long lists are refreshed less often, so that they cost the browser and the server no more than
// short ones.

/** The longest interval; older data would mislead. */
const longestMs = 60_000

/** Returns `intervalMs` for up to `atOnce` items, and proportionally more for longer lists. */
export function findRefreshIntervalMs(intervalMs: number, count: number, atOnce: number): number {
  return Math.max(intervalMs, Math.min(longestMs, (intervalMs * count) / atOnce))
}
