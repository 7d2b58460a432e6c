// Writes a session description (RFC 4566) as a server of live streams sends it.

import type { Sdp, SdpMedia } from '../../../../server/media/sdp/sdp.ts'

/** The connection address is 0.0.0.0, because the RTSP transport states where packets are sent. */
export function writeSdp(sdp: Sdp): string {
  const lines = ['v=0', 'o=- 0 0 IN IP4 127.0.0.1', `s=${sdp.sessionName || '-'}`, 'c=IN IP4 0.0.0.0', 't=0 0']
  if (sdp.control !== undefined) lines.push(`a=control:${sdp.control}`)
  lines.push('a=range:npt=now-', ...sdp.media.flatMap(mediaLines))
  return `${lines.join('\r\n')}\r\n`
}

function mediaLines(media: SdpMedia): string[] {
  const formats = media.payloads.map((payload) => payload.payloadType)
  const lines = [`m=${media.type} ${media.port} ${[media.protocol, ...formats].join(' ')}`]
  for (const { payloadType, encoding, clockRate, channels, parameters } of media.payloads) {
    const suffix = channels > 1 ? `/${channels}` : ''
    if (encoding !== '') lines.push(`a=rtpmap:${payloadType} ${encoding}/${clockRate}${suffix}`)
    const list = [...parameters].map(([name, value]) => `${name}=${value}`)
    if (list.length > 0) lines.push(`a=fmtp:${payloadType} ${list.join('; ')}`)
  }
  if (media.direction !== undefined) lines.push(`a=${media.direction}`)
  if (media.control !== undefined) lines.push(`a=control:${media.control}`)
  return lines
}
