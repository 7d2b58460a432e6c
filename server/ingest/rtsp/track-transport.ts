// How the packets of one track are transported: inside the RTSP connection (interleaved-tracks.ts) or in datagrams
// (udp-track.ts).

/** Receives the packets of a track: `bytes[start, end)`, valid only during the call. */
export type TrackHandler = {
  /** The payload type of its RTP packets. */
  readonly payloadType: number
  onRtp(bytes: Uint8Array, start: number, end: number): void
  onRtcp(bytes: Uint8Array, start: number, end: number): void
}

export type TrackTransport = Disposable & {
  /** The Transport header of the SETUP request. */
  readonly offer: string
  /**
   * `response`: the camera's Transport header, undefined if it sent none. @throws CameraError with status 461 if the
   * camera chose another transport
   */
  accept(response: string | undefined): void
  /** Sends RTCP to the camera. The report is dropped if it cannot be sent now. */
  sendReport(report: Uint8Array): void
}
