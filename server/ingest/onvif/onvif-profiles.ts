// Profiles of a camera as its media service lists them: the first one (ONVIF Media) or the second (Media2, which
// supports H.265).

import type { VideoCodec } from '../../media/frame.ts'
import { serviceNamespaces } from './soap.ts'
import { escapeXml, findChild, findText, listChildren, type XmlElement } from './xml.ts'

export type OnvifProfile = {
  readonly token: string
  readonly name: string
  /** Undefined if this server does not support the codec. */
  readonly codec: VideoCodec | undefined
  /** The name that the camera uses for the codec. */
  readonly encoding: string | undefined
  readonly width: number | undefined
  readonly height: number | undefined
  readonly framesPerSecond: number | undefined
  readonly bitRateKbps: number | undefined
  readonly hasAudio: boolean
}

/** The requests of a media service, and how to read its responses. */
export type MediaService = {
  readonly namespace: string
  readonly listProfiles: string
  getStreamUri(token: string): string
  getSnapshotUri(token: string): string
  readProfiles(response: XmlElement): OnvifProfile[]
}

/** Many cameras have two or three profiles. Recorders have several for each of their cameras. */
const maxProfiles = 64

const codecs: ReadonlyMap<string, VideoCodec> = new Map([
  ['H264', 'h264'],
  ['H265', 'h265'],
  ['HEVC', 'h265'],
  ['JPEG', 'mjpeg'],
])

const media1: MediaService = {
  namespace: serviceNamespaces.trt,
  listProfiles: '<trt:GetProfiles/>',
  getStreamUri: (token) =>
    `<trt:GetStreamUri><trt:StreamSetup><tt:Stream>RTP-Unicast</tt:Stream><tt:Transport><tt:Protocol>RTSP</tt:Protocol></tt:Transport></trt:StreamSetup>${tokenElement('trt', token)}</trt:GetStreamUri>`,
  getSnapshotUri: (token) => `<trt:GetSnapshotUri>${tokenElement('trt', token)}</trt:GetSnapshotUri>`,
  readProfiles: (response) =>
    readProfiles(response, (profile) => ({
      video: findChild(profile, 'VideoEncoderConfiguration'),
      audio: findChild(profile, 'AudioEncoderConfiguration'),
    })),
}

const media2: MediaService = {
  namespace: serviceNamespaces.tr2,
  listProfiles: '<tr2:GetProfiles><tr2:Type>VideoEncoder</tr2:Type><tr2:Type>AudioEncoder</tr2:Type></tr2:GetProfiles>',
  getStreamUri: (token) =>
    `<tr2:GetStreamUri><tr2:Protocol>RTSP</tr2:Protocol>${tokenElement('tr2', token)}</tr2:GetStreamUri>`,
  getSnapshotUri: (token) => `<tr2:GetSnapshotUri>${tokenElement('tr2', token)}</tr2:GetSnapshotUri>`,
  readProfiles: (response) =>
    readProfiles(response, (profile) => ({
      video: findChild(profile, 'Configurations', 'VideoEncoder'),
      audio: findChild(profile, 'Configurations', 'AudioEncoder'),
    })),
}

/** The preferred one comes first. */
export const mediaServices: readonly MediaService[] = [media2, media1]

type Encoders = { readonly video: XmlElement | undefined; readonly audio: XmlElement | undefined }

function readProfiles(response: XmlElement, encodersOf: (profile: XmlElement) => Encoders): OnvifProfile[] {
  return listChildren(response, 'Profiles')
    .slice(0, maxProfiles)
    .flatMap((profile) => {
      const token = profile.attributes.get('token')
      const { video, audio } = encodersOf(profile)
      // A profile without an encoder has no stream: it is incomplete or carries only metadata.
      if (!token || token.length > maxToken || !video) return []
      const encoding = cleanText(findText(video, 'Encoding'))
      return {
        token,
        name: cleanText(findText(profile, 'Name')) ?? cleanText(token) ?? 'profile',
        codec: codecs.get(encoding?.toUpperCase() ?? ''),
        encoding,
        width: readCount(findText(video, 'Resolution', 'Width')),
        height: readCount(findText(video, 'Resolution', 'Height')),
        framesPerSecond: readCount(findText(video, 'RateControl', 'FrameRateLimit')),
        bitRateKbps: readCount(findText(video, 'RateControl', 'BitrateLimit')),
        hasAudio: audio !== undefined,
      }
    })
}

const maxText = 100

/** ONVIF allows 64 characters. */
const maxToken = 200

/**
 * Cleans text for people: limits its length and removes control characters and characters that change the direction of
 * text.
 */
export function cleanText(text: string | undefined): string | undefined {
  const clean = text
    ?.toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
  return clean ? clean.slice(0, maxText).toWellFormed() : undefined
}

function readCount(text: string | undefined): number | undefined {
  const value = text === undefined ? Number.NaN : Math.round(Number(text))
  return value > 0 && value < 1e6 ? value : undefined
}

function tokenElement(prefix: string, token: string): string {
  return `<${prefix}:ProfileToken>${escapeXml(token)}</${prefix}:ProfileToken>`
}
