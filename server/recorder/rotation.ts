// Decides when a camera's file ends: at the same moment of every minute, but at a different one for each camera, so
// that a hundred cameras do not close, sync and create files at once.

/** Spreads consecutive ids evenly over the period, however many there are. */
const goldenRatio = 0.618033988749895

/** The first moment of rotation at least a quarter of a period after `startMs`; Unix milliseconds. */
export function nextRotationMs(cameraId: number, startMs: number, segmentMs: number): number {
  const phaseMs = ((cameraId * goldenRatio) % 1) * segmentMs
  const earliestMs = startMs + segmentMs / 4
  return phaseMs + Math.ceil((earliestMs - phaseMs) / segmentMs) * segmentMs
}
