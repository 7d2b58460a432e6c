// Tells whether the server can already estimate how fast recordings grow.

/** The server needs a minute of footage and recalculates every half minute. */
const knownAfterMs = 2 * 60_000

export type Growing = { readonly bytes_per_day: number; readonly recording_start: string | null }

/** True while a rate of zero only means that recording has just started. */
export function isMeasuring({ bytes_per_day, recording_start }: Growing, nowMs: number): boolean {
  return bytes_per_day === 0 && recording_start !== null && nowMs - Date.parse(recording_start) < knownAfterMs
}

/** The same for several cameras together. */
export function areMeasuring(bytesPerDay: number, cameras: readonly Growing[], nowMs: number): boolean {
  return bytesPerDay === 0 && cameras.some((camera) => isMeasuring(camera, nowMs))
}
