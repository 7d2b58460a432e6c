// What is counted of one camera, over all its connections. A plain object, read by whoever makes metrics of it.

export type CameraStats = {
  /** Connections that reached the first frame. */
  connections: number
  /** Runs begun: more than connections when the format changed or the camera's clock jumped. */
  runs: number
  /** Pictures that should have begun a run, but could not because the camera had begun too many; see run-limit.ts. */
  refusedRuns: number
  receivedBytes: number
  /** RTP packets of the tracks we take, and those that never came. */
  packets: number
  lostPackets: number
  videoFrames: number
  audioFrames: number
  /** Pictures not published: lost, damaged by loss, waiting for a key frame after it, or of a run that was refused. */
  droppedFrames: number
  /** Packets or payloads that break their format. */
  badPackets: number
  /** Packets of another sender than the camera's stream: another address (UDP), another SSRC. */
  foreignPackets: number
  /** Packets that came again, or too late to be put in order (UDP). */
  latePackets: number
  /** Timestamps that did not increase and were moved. */
  reorderedFrames: number
  clockJumps: number
  /**
   * Seconds of real time per second of the camera's timestamps: 2 where a camera stamps 25 frames/s and sends 12.5.
   * Exactly 1 while the camera's clock is trusted. A gauge: it tells the present value.
   */
  clockRate: number
  /** Pictures whose durations were measured by arrival, because `clockRate` was not 1. */
  retimedFrames: number
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
  }
}
