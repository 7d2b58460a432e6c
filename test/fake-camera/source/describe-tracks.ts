// The tracks of a stream as its session description shows them (RFC 6184 8.2.1, RFC 7798 7.1, RFC 2435, RFC 3640 4.1).

import type { VideoCodec } from '../../../server/media/frame.ts'
import type { SdpMedia } from '../../../server/media/sdp/sdp.ts'
import { aacHbrParameters } from '../../support/media/aac/packetizer.ts'
import type { AudioKind } from '../encode/microphone.ts'
import { audioPayloadType, videoPayloadType } from './media-source.ts'

/** `parameterSets`: VPS, SPS and PPS, as the codec has them. JPEG says everything in its packets. */
export function describeVideo(codec: VideoCodec, parameterSets: readonly Uint8Array[]): SdpMedia {
  return describe('video', 'track1', {
    payloadType: videoPayloadType,
    encoding: { h264: 'H264', h265: 'H265', mjpeg: 'JPEG' }[codec],
    clockRate: 90_000,
    channels: 1,
    parameters:
      codec === 'mjpeg' ? new Map() : codec === 'h265' ? describeH265(parameterSets) : describeH264(parameterSets),
  })
}

function describeH264(parameterSets: readonly Uint8Array[]): Map<string, string> {
  const [sps] = parameterSets
  return new Map([
    ['packetization-mode', '1'],
    ['profile-level-id', Buffer.from(sps?.subarray(1, 4) ?? []).toString('hex')],
    ['sprop-parameter-sets', parameterSets.map(toBase64).join(',')],
  ])
}

function describeH265([vps, sps, pps]: readonly Uint8Array[]): Map<string, string> {
  const sets = { 'sprop-vps': vps, 'sprop-sps': sps, 'sprop-pps': pps }
  return new Map(Object.entries(sets).map(([name, set]) => [name, toBase64(set ?? new Uint8Array())]))
}

function toBase64(nal: Uint8Array): string {
  return Buffer.from(nal).toString('base64')
}

/** `config`: AudioSpecificConfig, of AAC. */
export function describeAudio(kind: AudioKind, audio: { sampleRate: number; config: Uint8Array }): SdpMedia {
  const config = ['config', Buffer.from(audio.config).toString('hex')] as const
  // RFC 3640 wants the channel count written even when it is 1, but cameras and FFmpeg do without.
  return describe('audio', 'track2', {
    payloadType: audioPayloadType,
    encoding: kind === 'aac' ? 'MPEG4-GENERIC' : kind.toUpperCase(),
    clockRate: audio.sampleRate,
    channels: 1,
    parameters: kind === 'aac' ? new Map([...aacHbrParameters, config]) : new Map(),
  })
}

function describe(type: string, control: string, payload: SdpMedia['payloads'][number]): SdpMedia {
  return { type, port: 0, protocol: 'RTP/AVP', payloads: [payload], control, direction: undefined }
}
