// Whether the server can tell yet how fast recordings grow.

/** It wants a minute of footage, and counts every half minute. */
const knownAfterMs = 2 * 60_000

export type Growing = { readonly bytes_per_day: number; readonly recording_start: string | null }

/** Recorded since so short a time that no rate is not a rate of nothing. */
export function isMeasuring({ bytes_per_day, recording_start }: Growing, nowMs: number): boolean {
  return bytes_per_day === 0 && recording_start !== null && nowMs - Date.parse(recording_start) < knownAfterMs
}

/** Of several together. */
export function areMeasuring(bytesPerDay: number, cameras: readonly Growing[], nowMs: number): boolean {
  return bytesPerDay === 0 && cameras.some((camera) => isMeasuring(camera, nowMs))
}
