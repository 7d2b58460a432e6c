// What is wrong with a stream at the moment, set by tests and read by its connections.

import type { Sdp, SdpMedia } from '../../../server/media/sdp/sdp.ts'

/** How a stream is described: as it is, without its video, or with a codec nobody knows. */
export type DescriptionFault = 'none' | 'no_video' | 'unknown_codec'

export type StreamFaults = {
  /** Until then (monotonic milliseconds) the camera sends nothing and answers nothing. */
  stalledUntilMs: number
  description: DescriptionFault
  /** Answer to DESCRIBE and SETUP, for instance 404 or 503. */
  status: number | undefined
}

export function createStreamFaults(): StreamFaults {
  return { stalledUntilMs: 0, description: 'none', status: undefined }
}

/** The session description of these tracks, spoilt as asked. */
export function describeSession(name: string, tracks: readonly SdpMedia[], fault: DescriptionFault): Sdp {
  const media = tracks
    .filter(({ type }) => fault !== 'no_video' || type !== 'video')
    .map((track) => (fault === 'unknown_codec' && track.type === 'video' ? withUnknownCodec(track) : track))
  return { sessionName: name, control: '*', media }
}

function withUnknownCodec(track: SdpMedia): SdpMedia {
  const parameters = new Map([['version', '9']])
  return { ...track, payloads: track.payloads.map((payload) => ({ ...payload, encoding: 'X-HOLOGRAM', parameters })) }
}
