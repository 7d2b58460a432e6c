// The RTCP packet that ties RTP timestamps to the sender's wall clock: SR with SDES CNAME (RFC 3550 6.4.1, 6.5), framed.

import { writeInterleaved } from '../../../server/media/rtsp/interleaved.ts'

/** Seconds from 1900, where NTP begins, to 1970. */
const ntpOffsetSeconds = 2_208_988_800

export type SenderReport = {
  /** The channel of the RTSP connection it is framed for. */
  readonly channel: number
  readonly ssrc: number
  /** The wall clock, Unix milliseconds, at which the RTP clock shows `timestamp`. */
  readonly unixMs: number
  readonly timestamp: number
  readonly packetCount: number
  readonly payloadBytes: number
}

export function writeSenderReport(report: SenderReport): Uint8Array {
  const cname = new TextEncoder().encode('camera')
  const sdesBytes = (4 + 4 + 2 + cname.length + 4) & ~3
  const bytes = new Uint8Array(28 + sdesBytes)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, 0x80c8)
  view.setUint16(2, 6)
  view.setUint32(4, report.ssrc)
  view.setUint32(8, Math.floor(report.unixMs / 1000) + ntpOffsetSeconds)
  view.setUint32(12, Math.floor(((report.unixMs % 1000) / 1000) * 2 ** 32))
  view.setUint32(16, report.timestamp)
  view.setUint32(20, report.packetCount)
  view.setUint32(24, report.payloadBytes)
  view.setUint16(28, 0x81ca)
  view.setUint16(30, sdesBytes / 4 - 1)
  view.setUint32(32, report.ssrc)
  bytes.set([1, cname.length, ...cname], 36)
  return writeInterleaved(report.channel, bytes)
}
