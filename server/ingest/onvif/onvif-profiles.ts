// Profiles of a camera as its media service lists them: of the first one (ONVIF Media) and of the second (Media2, which
// knows H.265).

import type { VideoCodec } from '../../media/frame.ts'
import { serviceNamespaces } from './soap.ts'
import { escapeXml, findChild, findText, listChildren, type XmlElement } from './xml.ts'

export type OnvifProfile = {
  readonly token: string
  readonly name: string
  /** Undefined when it is something this server does not read. */
  readonly codec: VideoCodec | undefined
  /** As the camera names it. */
  readonly encoding: string | undefined
  readonly width: number | undefined
  readonly height: number | undefined
  readonly framesPerSecond: number | undefined
  readonly bitRateKbps: number | undefined
  readonly hasAudio: boolean
}

/** What to ask a media service, and how to read what it answers. */
export type MediaService = {
  readonly namespace: string
  readonly listProfiles: string
  getStreamUri(token: string): string
  getSnapshotUri(token: string): string
  readProfiles(answer: XmlElement): OnvifProfile[]
}

/** Many have two or three; recorders have several for each of their cameras. */
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
  readProfiles: (answer) =>
    readProfiles(answer, (profile) => ({
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
  readProfiles: (answer) =>
    readProfiles(answer, (profile) => ({
      video: findChild(profile, 'Configurations', 'VideoEncoder'),
      audio: findChild(profile, 'Configurations', 'AudioEncoder'),
    })),
}

/** The better one first. */
export const mediaServices: readonly MediaService[] = [media2, media1]

type Encoders = { readonly video: XmlElement | undefined; readonly audio: XmlElement | undefined }

function readProfiles(answer: XmlElement, encodersOf: (profile: XmlElement) => Encoders): OnvifProfile[] {
  return listChildren(answer, 'Profiles')
    .slice(0, maxProfiles)
    .flatMap((profile) => {
      const token = profile.attributes.get('token')
      const { video, audio } = encodersOf(profile)
      // One without an encoder has no stream: metadata alone, or what somebody left half done.
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

/** ONVIF allows 64. */
const maxToken = 200

/** For people: of bounded length, without control characters and those that change the direction of text. */
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
