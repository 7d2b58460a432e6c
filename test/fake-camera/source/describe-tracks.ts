// The tracks of a stream as its session description shows them (RFC 6184 8.2.1, RFC 3640 4.1).

import { aacHbrParameters } from '../../../server/media/aac/packetizer.ts'
import type { SdpMedia } from '../../../server/media/sdp/sdp.ts'
import { audioPayloadType, videoPayloadType } from './media-source.ts'

/** `parameterSets` = SPS and PPS. */
export function describeVideo(parameterSets: readonly Uint8Array[]): SdpMedia {
  const [sps] = parameterSets
  const parameters = new Map([
    ['packetization-mode', '1'],
    ['profile-level-id', Buffer.from(sps?.subarray(1, 4) ?? []).toString('hex')],
    ['sprop-parameter-sets', parameterSets.map((nal) => Buffer.from(nal).toString('base64')).join(',')],
  ])
  return describe('video', 'track1', {
    payloadType: videoPayloadType,
    encoding: 'H264',
    clockRate: 90_000,
    channels: 1,
    parameters,
  })
}

/** `config` = AudioSpecificConfig. */
export function describeAudio(sampleRate: number, config: Uint8Array): SdpMedia {
  const parameters = new Map([...aacHbrParameters, ['config', Buffer.from(config).toString('hex')] as const])
  const encoding = 'MPEG4-GENERIC'
  // RFC 3640 wants the channel count written even when it is 1, but cameras and FFmpeg do without.
  return describe('audio', 'track2', {
    payloadType: audioPayloadType,
    encoding,
    clockRate: sampleRate,
    channels: 1,
    parameters,
  })
}

function describe(type: string, control: string, payload: SdpMedia['payloads'][number]): SdpMedia {
  return { type, port: 0, protocol: 'RTP/AVP', payloads: [payload], control, isOffered: true }
}
