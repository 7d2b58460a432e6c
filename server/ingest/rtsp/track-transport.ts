// How the packets of one track come to us. Two kinds: interleaved-tracks.ts, inside the RTSP connection, and
// udp-track.ts.

/** Where a track's packets go: `bytes[start, end)`, valid only during the call. */
export type TrackHandler = {
  /** Of its RTP packets. */
  readonly payloadType: number
  onRtp(bytes: Uint8Array, start: number, end: number): void
  onRtcp(bytes: Uint8Array, start: number, end: number): void
}

export type TrackTransport = Disposable & {
  /** What we ask for, as a Transport header. */
  readonly offer: string
  /**
   * `answer`: the camera's Transport header, undefined when it sent none. @throws CameraError with status 461 when it
   * is another kind
   */
  accept(answer: string | undefined): void
  /** RTCP to the camera; lost when it cannot be sent now. */
  sendReport(report: Uint8Array): void
}
