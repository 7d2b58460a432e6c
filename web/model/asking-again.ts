// How often something is asked for again, so that a long list costs its reader and the server no more than a short one.

/** Beyond this, what is shown would be too old. */
const longestMs = 60_000

/** Every `intervalMs` for up to `atOnce` things; less often, the more there are. */
export function findIntervalMs(intervalMs: number, count: number, atOnce: number): number {
  return Math.max(intervalMs, Math.min(longestMs, (intervalMs * count) / atOnce))
}
