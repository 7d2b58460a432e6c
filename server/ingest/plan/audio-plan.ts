// Chooses the audio track of a session description, and reads what must be known before its first packet.

import { AppError } from '../../base/error.ts'
import { aacCodecString, parseAudioSpecificConfig } from '../../media/aac/audio-specific-config.ts'
import { type AacHeaderSizes, parseAacHeaderSizes } from '../../media/aac/depacketizer.ts'
import { type LatmParameters, parseLatmParameters } from '../../media/aac/latm.ts'
import type { AudioFormat } from '../../media/frame.ts'
import { opusSampleRate, writeOpusConfig } from '../../media/opus/opus-packet.ts'
import type { Sdp, SdpMedia, SdpPayload } from '../../media/sdp/sdp.ts'
import { type AudioSource, createTranscodedFormat } from '../../media/telephony/audio-transcoder.ts'
import { createSilence } from '../../media/telephony/silence.ts'
import { type TelephoneCoding, telephoneCodings } from '../../media/telephony/telephone-coding.ts'
import { isEncrypted, listEncodings } from './video-plan.ts'

/** How packets are read. */
export type AudioCoding =
  | { readonly kind: 'aac'; readonly samplesPerBlock: number; readonly headerSizes: AacHeaderSizes }
  | {
      readonly kind: 'latm'
      readonly samplesPerBlock: number
      readonly mux: Pick<LatmParameters, 'blocks' | 'isConfigInBand'>
    }
  | { readonly kind: 'opus' }
  /** Each payload is a block, as in containers, which do not split them. */
  | { readonly kind: 'block' }
  /** Transcoded to AAC before it reaches the hub. */
  | { readonly kind: 'telephone'; readonly source: AudioSource }

export type AudioPlan = {
  readonly payloadType: number
  readonly control: string | undefined
  /** RTP timestamps per second, which may differ from the sample rate. */
  readonly clockRate: number
  readonly coding: AudioCoding
  /** The format that reaches the hub. */
  readonly format: AudioFormat
  /** Whether audio and video timestamps are on the same axis, as in containers. */
  readonly sharesVideoClock?: boolean
  /** The description states the direction of the track as the client sees it. */
  readonly hasClientDirection?: boolean
}

export type PlannedAudio = {
  readonly audio: AudioPlan | undefined
  /** Why there is no audio although the camera offers some; undefined if there is no problem. */
  readonly audioProblem: string | undefined
}

type Planner = (media: SdpMedia, payload: SdpPayload) => AudioPlan

/** Names in `a=rtpmap` (RFC 3640 4.1, RFC 6416 7.3, RFC 7587 7, RFC 3551 table 4), in order of preference. */
const planners: readonly (readonly [encoding: string, plan: Planner])[] = [
  ['MPEG4-GENERIC', planAac],
  ['MP4A-LATM', planLatm],
  ['OPUS', planOpus],
  ...telephoneCodings.map((coding) => [coding.toUpperCase(), planTelephone(coding)] as const),
]

export function planAudio(sdp: Sdp): PlannedAudio {
  const offered = listMicrophones(sdp)
  if (offered.length === 0) {
    const isSecret = sdp.media.some((media) => media.type === 'audio' && isEncrypted(media))
    return {
      audio: undefined,
      audioProblem: isSecret ? 'the audio is encrypted (SRTP), which is not supported' : undefined,
    }
  }
  let audioProblem = `${listEncodings(offered)} audio is not supported`
  for (const [encoding, plan] of planners) {
    for (const media of offered) {
      const payload = media.payloads.find((each) => each.encoding.toUpperCase() === encoding)
      if (!payload) continue
      try {
        const hasClientDirection = media.direction === 'recvonly'
        return {
          audio: { ...plan(media, payload), ...(hasClientDirection && { hasClientDirection }) },
          audioProblem: undefined,
        }
      } catch (error) {
        audioProblem = error instanceof Error ? error.message : String(error)
      }
    }
  }
  return { audio: undefined, audioProblem }
}

/**
 * The audio that the camera sends, without the loudspeaker that it lets clients speak through. What a direction means is
 * the choice of the camera, and its video tells: video is always sent. Without a direction there, a track without one is
 * a microphone; the loudspeaker is the one that is marked, as `sendonly` by cameras that state the client's direction.
 */
function listMicrophones(sdp: Sdp): SdpMedia[] {
  const audio = sdp.media.filter((media) => media.type === 'audio' && !isEncrypted(media))
  const of = (...directions: readonly SdpMedia['direction'][]) =>
    audio.filter(({ direction }) => directions.includes(direction))
  const sent = sdp.media.find(({ type, direction }) => type === 'video' && direction !== 'inactive')?.direction
  if (sent !== undefined) return of(sent, undefined)
  return [of(undefined), of('recvonly'), of('sendonly')].find(({ length }) => length > 0) ?? []
}

function planAac(media: SdpMedia, payload: SdpPayload): AudioPlan {
  const config = new Uint8Array(Buffer.from(payload.parameters.get('config') ?? '', 'hex'))
  return planBlocks(media, payload, config, (samplesPerBlock) => {
    return { kind: 'aac', samplesPerBlock, headerSizes: parseAacHeaderSizes(payload.parameters) }
  })
}

function planLatm(media: SdpMedia, payload: SdpPayload): AudioPlan {
  const { config, ...mux } = parseLatmParameters(payload.parameters)
  return planBlocks(media, payload, config, (samplesPerBlock) => ({ kind: 'latm', samplesPerBlock, mux }))
}

function planBlocks(
  media: SdpMedia,
  { payloadType, clockRate }: SdpPayload,
  config: Uint8Array,
  createCoding: (samplesPerBlock: number) => AudioCoding,
): AudioPlan {
  const { samplesPerBlock } = parseAudioSpecificConfig(config)
  const format = createAacFormat(config)
  return {
    payloadType,
    control: media.control,
    clockRate: clockRate || format.sampleRate,
    coding: createCoding(samplesPerBlock),
    format,
  }
}

/**
 * @throws AppError 'corrupt'; 'invalid' for kinds of AAC that browsers do not play and for which no silence is
 * available
 */
export function createAacFormat(config: Uint8Array): AudioFormat {
  const asc = parseAudioSpecificConfig(config)
  const { sampleRate, channels } = asc
  const codecString = aacCodecString(asc)
  const format: AudioFormat = { codec: 'aac', sampleRate, channels, config, codecString }
  if (!createSilence(format)) throw new AppError('invalid', `AAC audio of type ${codecString} is not supported`)
  return format
}

/**
 * The clock rate is always 48 kHz and the description always says two channels. Each packet contains its real format.
 */
function planOpus(media: SdpMedia, { payloadType }: SdpPayload): AudioPlan {
  const channels = 2
  const config = writeOpusConfig(channels)
  return {
    payloadType,
    control: media.control,
    clockRate: opusSampleRate,
    coding: { kind: 'opus' },
    format: { codec: 'opus', sampleRate: opusSampleRate, channels, config, codecString: 'opus' },
  }
}

function planTelephone(coding: TelephoneCoding): Planner {
  return (media, { payloadType, clockRate, channels }) => {
    const sampleRate = clockRate || 8000
    if ((sampleRate !== 8000 && sampleRate !== 16_000) || channels !== 1) {
      throw new AppError('invalid', `${coding.toUpperCase()} audio of ${sampleRate} Hz × ${channels} is not supported`)
    }
    return {
      payloadType,
      control: media.control,
      clockRate: sampleRate,
      coding: { kind: 'telephone', source: { coding, sampleRate } },
      format: createTranscodedFormat(),
    }
  }
}
