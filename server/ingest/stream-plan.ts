// Which tracks of a session description we take: the first H.264 video, and AAC sound if there is any. Says clearly why not.

import { aacCodecString, parseAudioSpecificConfig } from '../media/aac/audio-specific-config.ts'
import { type AacHeaderSizes, parseAacHeaderSizes } from '../media/aac/depacketizer.ts'
import type { AudioFormat } from '../media/frame.ts'
import type { Sdp, SdpMedia, SdpPayload } from '../media/sdp/sdp.ts'
import { CameraError } from './camera-error.ts'

export type VideoPlan = {
  readonly payloadType: number
  readonly control: string | undefined
  /** NAL units of `sprop-parameter-sets`; may be empty. */
  readonly parameterSets: readonly Uint8Array[]
}

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
  const video = sdp.media.filter((media) => media.type === 'video')
  for (const media of video) {
    const payload = media.payloads.find(({ encoding }) => encoding.toUpperCase() === 'H264')
    if (payload) return { video: planVideo(media, payload), ...planAudio(sdp) }
  }
  if (video.length > 0) {
    const offered = listEncodings(video)
    const detail = `The camera sends ${offered} video, which is not supported yet: set this stream to H.264 in the camera.`
    throw new CameraError('no_frames', detail)
  }
  const others = sdp.media.length > 0 ? `, only ${sdp.media.map(({ type }) => type.slice(0, 20)).join(', ')}` : ''
  const detail = `The camera offers no video at this URL${others}: check the path and that video is switched on in the camera.`
  throw new CameraError('no_frames', detail)
}

function listEncodings(media: readonly SdpMedia[]): string {
  const names = media.flatMap(({ payloads }) => payloads.map(({ encoding }) => encoding.slice(0, 20) || 'unknown'))
  return [...new Set(names)].slice(0, 5).join(', ') || 'unknown'
}

function planVideo(media: SdpMedia, { payloadType, parameters }: SdpPayload): VideoPlan {
  if (parameters.get('packetization-mode') === '2') {
    throw new CameraError(
      'no_frames',
      'The camera sends H.264 in interleaved order (packetization mode 2), which is not supported.',
    )
  }
  const sets = (parameters.get('sprop-parameter-sets') ?? '').split(',').filter((text) => text !== '')
  const parameterSets = sets.map((text) => new Uint8Array(Buffer.from(text, 'base64'))).filter((set) => set.length > 1)
  return { payloadType, control: media.control, parameterSets }
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
