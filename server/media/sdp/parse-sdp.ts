// Parses a session description (RFC 4566). Tolerates the mistakes of cameras: unknown lines and attributes are skipped.

import { AppError } from '../../base/error.ts'
import { type Sdp, type SdpMedia, type SdpPayload, staticPayloads } from './sdp.ts'

const maxMedia = 64
/** Seven bits (RFC 3550 5.1). */
const maxPayloadType = 127

/** @throws AppError 'corrupt' when the text is not a session description */
export function parseSdp(text: string): Sdp {
  const sections: string[][] = [[]]
  for (const line of text.split(/[\r\n]+/)) {
    if (line.trim() === '') continue
    if (line.startsWith('m=')) sections.push([])
    sections.at(-1)!.push(line.trimEnd())
  }
  const [session = [], ...media] = sections
  // Some cameras send only the media sections.
  if (session[0] !== 'v=0' && media.length === 0) throw new AppError('corrupt', 'SDP: expected "v=0" at the start')
  if (media.length > maxMedia) throw new AppError('corrupt', `SDP: expected at most ${maxMedia} media`)
  return {
    sessionName:
      session
        .find((line) => line.startsWith('s='))
        ?.slice(2)
        .trim() ?? '',
    control: readAttributes(session).get('control'),
    media: media.map((lines) => parseMedia(lines, readDirection(session))),
  }
}

function parseMedia(lines: readonly string[], sessionDirection: string | undefined): SdpMedia {
  const match = /^m=(\S+) +(\d+)(?:\/\d+)? +(\S+)((?: +\S+)*) *$/.exec(lines[0]!)
  if (!match) throw new AppError('corrupt', 'SDP: expected "m=<media> <port> <protocol> <formats>"')
  const [, type, port, protocol, formats] = match
  const numbers = formats!.split(' ').filter((format) => /^\d{1,3}$/.test(format))
  const payloadTypes = new Set(numbers.map(Number).filter((payloadType) => payloadType <= maxPayloadType))
  const attributes = readAttributes(lines)
  const direction = (readDirection(lines) ?? sessionDirection) as SdpMedia['direction'] | 'sendrecv'
  return {
    type: type!,
    port: Number(port),
    protocol: protocol!,
    payloads: Array.from(payloadTypes, (payloadType) => parsePayload(payloadType, attributes)),
    control: attributes.get('control'),
    direction: direction === 'sendrecv' ? undefined : direction,
  }
}

/** Undefined if no line states a direction. */
function readDirection(lines: readonly string[]): string | undefined {
  const line = lines.find((line) => /^a= *(sendonly|recvonly|sendrecv|inactive)$/i.test(line))
  return line?.slice(2).trim().toLowerCase()
}

function parsePayload(payloadType: number, attributes: Attributes): SdpPayload {
  const known = staticPayloads.get(payloadType)
  const rtpmap = attributes.get(`rtpmap:${payloadType}`)
  const [encoding, clockRate, channels] = rtpmap ? rtpmap.split('/') : []
  return {
    payloadType,
    encoding: encoding?.trim() ?? known?.encoding ?? '',
    clockRate: positive(clockRate) ?? known?.clockRate ?? 0,
    channels: positive(channels) ?? known?.channels ?? 1,
    parameters: withFrameSize(
      parseParameters(attributes.get(`fmtp:${payloadType}`) ?? ''),
      attributes.get(`framesize:${payloadType}`) ?? attributes.get('x-dimensions'),
    ),
  }
}

/**
 * `a=framesize:26 2592-1944` (3GPP TS 26.234 5.3.3.1) and `a=x-dimensions:2592,1944` are alternatives to the
 * `x-dimensions` parameter.
 */
function withFrameSize(parameters: Map<string, string>, frameSize: string | undefined): Map<string, string> {
  if (frameSize && !parameters.has('x-dimensions')) parameters.set('x-dimensions', frameSize.replace('-', ','))
  return parameters
}

function parseParameters(text: string): Map<string, string> {
  const parameters = new Map<string, string>()
  for (const part of text.split(';')) {
    const equals = part.indexOf('=')
    if (equals > 0) parameters.set(part.slice(0, equals).trim().toLowerCase(), part.slice(equals + 1).trim())
  }
  return parameters
}

/**
 * Values by `name`, and by `name:payloadType` where the value begins with a payload type. The first non-empty value of
 * each is kept.
 */
type Attributes = ReadonlyMap<string, string>

function readAttributes(lines: readonly string[]): Attributes {
  const attributes = new Map<string, string>()
  const take = (name: string, value: string) => {
    if (value !== '' && !attributes.has(name)) attributes.set(name, value)
  }
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (!line.startsWith('a=') || colon === -1) continue
    const name = line.slice(2, colon)
    const value = line.slice(colon + 1)
    take(name, value.trim())
    const space = value.indexOf(' ')
    if (space > 0) take(`${name}:${value.slice(0, space)}`, value.slice(space + 1).trim())
  }
  return attributes
}

function positive(text: string | undefined): number | undefined {
  const value = Number(text)
  return Number.isSafeInteger(value) && value > 0 ? value : undefined
}
