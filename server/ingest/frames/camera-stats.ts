// The counters of one camera across all its connections. A plain object from which metrics and statistics are made.

import type { Deviation } from '../../base/deviation.ts'

export type CameraStats = {
  /** Connections that reached the first frame. */
  connections: number
  /** Runs that began: more than connections if the format changed or the camera's clock jumped. */
  runs: number
  /** Frames that should have begun a run but could not, because the camera had begun too many; see run-limit.ts. */
  refusedRuns: number
  receivedBytes: number
  /** RTP packets of the received tracks, and packets that never arrived. */
  packets: number
  lostPackets: number
  videoFrames: number
  audioFrames: number
  /**
   * Frames that were not published: lost, damaged by loss, waiting for a key frame after a loss, or part of a refused
   * run.
   */
  droppedFrames: number
  /** Packets or payloads that break their format. */
  badPackets: number
  /** Packets that do not belong to the camera's stream: another IP address (UDP) or another SSRC. */
  foreignPackets: number
  /** Packets that arrived twice, or too late to be reordered (UDP). */
  latePackets: number
  /** Timestamps that did not increase and were moved. */
  reorderedFrames: number
  clockJumps: number
  /**
   * Seconds of real time per second of the camera's timestamps: 2 if a camera stamps 25 frames/s and sends 12.5.
   * Exactly 1 while the camera's clock is trusted. A gauge: the current value.
   */
  clockRate: number
  /** Frames whose durations were measured by arrival, because `clockRate` was not 1. */
  retimedFrames: number
  /** Found so far. */
  readonly deviations: Set<Deviation>
}

export function createCameraStats(): CameraStats {
  return {
    connections: 0,
    runs: 0,
    refusedRuns: 0,
    receivedBytes: 0,
    packets: 0,
    lostPackets: 0,
    videoFrames: 0,
    audioFrames: 0,
    droppedFrames: 0,
    badPackets: 0,
    foreignPackets: 0,
    latePackets: 0,
    reorderedFrames: 0,
    clockJumps: 0,
    clockRate: 1,
    retimedFrames: 0,
    deviations: new Set(),
  }
}
