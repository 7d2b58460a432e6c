// A session description (RFC 4566), as far as RTSP cameras use it. For reading, see parse-sdp.ts.

/** One payload type of a medium, described by `a=rtpmap` and `a=fmtp`. */
export type SdpPayload = {
  readonly payloadType: number
  /** As written, for example `H264`, `MPEG4-GENERIC`; from RFC 3551 for static types; empty when unknown. */
  readonly encoding: string
  /** Hz; 0 when unknown. */
  readonly clockRate: number
  readonly channels: number
  /** The `a=fmtp` parameters, names in lower case. */
  readonly parameters: ReadonlyMap<string, string>
}

export type SdpMedia = {
  /** `video`, `audio`, `application`, … */
  readonly type: string
  readonly port: number
  /** For example `RTP/AVP`. */
  readonly protocol: string
  readonly payloads: readonly SdpPayload[]
  /** `a=control`, absolute or relative. */
  readonly control: string | undefined
  /**
   * Of the medium, or else of the session; undefined for `a=sendrecv`, too, which is the default (RFC 4566 section 6).
   * Some cameras state the direction as the client sees it (ONVIF Streaming 5.3), others as they see it.
   */
  readonly direction: 'sendonly' | 'recvonly' | 'inactive' | undefined
}

export type Sdp = {
  readonly sessionName: string
  /** `a=control` of the whole session. */
  readonly control: string | undefined
  readonly media: readonly SdpMedia[]
}

/** RFC 3551 tables 4 and 5: the payload types that need no `a=rtpmap`. */
export const staticPayloads: ReadonlyMap<number, { encoding: string; clockRate: number; channels: number }> = new Map([
  [0, { encoding: 'PCMU', clockRate: 8000, channels: 1 }],
  [3, { encoding: 'GSM', clockRate: 8000, channels: 1 }],
  [8, { encoding: 'PCMA', clockRate: 8000, channels: 1 }],
  [9, { encoding: 'G722', clockRate: 8000, channels: 1 }],
  [10, { encoding: 'L16', clockRate: 44_100, channels: 2 }],
  [11, { encoding: 'L16', clockRate: 44_100, channels: 1 }],
  [14, { encoding: 'MPA', clockRate: 90_000, channels: 1 }],
  [26, { encoding: 'JPEG', clockRate: 90_000, channels: 1 }],
  [31, { encoding: 'H261', clockRate: 90_000, channels: 1 }],
  [32, { encoding: 'MPV', clockRate: 90_000, channels: 1 }],
  [33, { encoding: 'MP2T', clockRate: 90_000, channels: 1 }],
  [34, { encoding: 'H263', clockRate: 90_000, channels: 1 }],
])
