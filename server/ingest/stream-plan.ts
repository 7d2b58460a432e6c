// Which tracks of a session description we take: the first video we can read, and sound if there is some. Says clearly why not.

import { aacCodecString, parseAudioSpecificConfig } from '../media/aac/audio-specific-config.ts'
import { type AacHeaderSizes, parseAacHeaderSizes } from '../media/aac/depacketizer.ts'
import type { AudioFormat } from '../media/frame.ts'
import type { Sdp, SdpMedia, SdpPayload } from '../media/sdp/sdp.ts'
import { listEncodings, planVideo, type VideoPlan } from './video-plan.ts'

export type AudioPlan = {
  readonly payloadType: number
  readonly control: string | undefined
  /** RTP timestamps per second; not always the sample rate. */
  readonly clockRate: number
  readonly format: AudioFormat
  readonly samplesPerBlock: number
  readonly headerSizes: AacHeaderSizes
}

export type StreamPlan = {
  readonly video: VideoPlan
  readonly audio: AudioPlan | undefined
  /** Why there is no sound although the camera offers some; undefined when all is well. */
  readonly audioProblem: string | undefined
}

/** @throws CameraError when there is no video we can take, naming what there is */
export function planStreams(sdp: Sdp): StreamPlan {
  return { video: planVideo(sdp), ...planAudio(sdp) }
}

function planAudio(sdp: Sdp): Pick<StreamPlan, 'audio' | 'audioProblem'> {
  const offered = sdp.media.filter((media) => media.type === 'audio' && media.isOffered)
  if (offered.length === 0) return { audio: undefined, audioProblem: undefined }
  for (const media of offered) {
    const payload = media.payloads.find(({ encoding }) => encoding.toUpperCase() === 'MPEG4-GENERIC')
    if (!payload) continue
    try {
      return { audio: planAac(media, payload), audioProblem: undefined }
    } catch (error) {
      return { audio: undefined, audioProblem: error instanceof Error ? error.message : String(error) }
    }
  }
  return { audio: undefined, audioProblem: `${listEncodings(offered)} sound is not supported yet` }
}

function planAac(media: SdpMedia, { payloadType, clockRate, parameters }: SdpPayload): AudioPlan {
  const config = new Uint8Array(Buffer.from(parameters.get('config') ?? '', 'hex'))
  const asc = parseAudioSpecificConfig(config)
  const { sampleRate, channels, samplesPerBlock } = asc
  return {
    payloadType,
    control: media.control,
    clockRate: clockRate || sampleRate,
    format: { codec: 'aac', sampleRate, channels, config, codecString: aacCodecString(asc) },
    samplesPerBlock,
    headerSizes: parseAacHeaderSizes(parameters),
  }
}
