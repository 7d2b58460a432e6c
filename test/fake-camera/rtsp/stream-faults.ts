// What is wrong with a stream at the moment, set by tests and read by its connections.

import type { Sdp, SdpMedia } from '../../../server/media/sdp/sdp.ts'
import type { PacketFault } from './packet-faults.ts'

/** How a stream is described: as it is, without its video, without its audio, with a codec nobody knows, without its parameter sets, or in no known form. */
export type DescriptionFault = 'none' | 'no_video' | 'no_audio' | 'unknown_codec' | 'no_parameter_sets' | 'unreadable'

export type StreamFaults = {
  /** Until then (monotonic milliseconds) the camera sends nothing and answers nothing. */
  stalledUntilMs: number
  description: DescriptionFault
  /** Answer to DESCRIBE and SETUP, for instance 404 or 503. */
  status: number | undefined
  /** What happens to the packets until then (monotonic milliseconds). */
  packets: { readonly kind: PacketFault; readonly random: () => number; readonly untilMs: number } | undefined
}

export function createStreamFaults(): StreamFaults {
  return { stalledUntilMs: 0, description: 'none', status: undefined, packets: undefined }
}

/** The session description of these tracks, spoilt as asked. */
export function describeSession(name: string, tracks: readonly SdpMedia[], fault: DescriptionFault): Sdp {
  const media = tracks
    .filter(({ type }) => fault !== 'no_video' || type !== 'video')
    .filter(({ type }) => fault !== 'no_audio' || type !== 'audio')
    .map((track) => (fault === 'unknown_codec' && track.type === 'video' ? withUnknownCodec(track) : track))
    .map((track) => (fault === 'no_parameter_sets' ? withoutParameterSets(track) : track))
  return { sessionName: name, control: '*', media }
}

function withUnknownCodec(track: SdpMedia): SdpMedia {
  const parameters = new Map([['version', '9']])
  return { ...track, payloads: track.payloads.map((payload) => ({ ...payload, encoding: 'X-HOLOGRAM', parameters })) }
}

function withoutParameterSets(track: SdpMedia): SdpMedia {
  const strip = (parameters: ReadonlyMap<string, string>) =>
    new Map([...parameters].filter(([name]) => !name.startsWith('sprop-')))
  return {
    ...track,
    payloads: track.payloads.map((payload) => ({ ...payload, parameters: strip(payload.parameters) })),
  }
}
