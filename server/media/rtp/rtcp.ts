// Parses the RTCP packets that accompany a stream: sender reports and BYE (RFC 3550 6.4.1, 6.6). For the answers, see
// receiver-report.ts.

export type RtcpHandler = {
  /**
   * `rtpTime` in the clock of the stream is the same moment as the NTP time on the wall clock of the sender: seconds
   * since 1900 with 32 bits of fraction.
   */
  onSenderReport(report: SenderReport): void
  /** The source has ended. */
  onBye(ssrc: number): void
}

export type SenderReport = {
  readonly ssrc: number
  readonly ntpSeconds: number
  readonly ntpFraction: number
  readonly rtpTime: number
}

/** Reports that are further apart do not belong to one session clock. */
const maxApartSeconds = 60

/**
 * Converts the moment of `report` to the RTP time of another stream of the same sender, whose report is `other` and
 * whose clock has `otherRate` Hz. Both streams share the wall clock of the sender. Returns undefined when the reports
 * cannot have the same clock.
 */
export function convertRtpTime(report: SenderReport, other: SenderReport, otherRate: number): number | undefined {
  const seconds = ((report.ntpSeconds - other.ntpSeconds) | 0) + (report.ntpFraction - other.ntpFraction) / 2 ** 32
  if (Math.abs(seconds) > maxApartSeconds) return undefined
  return (other.rtpTime + Math.round(seconds * otherRate)) >>> 0
}

const senderReport = 200
const bye = 203

/** Parses the compound packet `bytes[start, end)`. Unknown and truncated packets are skipped. */
export function readRtcp(bytes: Uint8Array, start: number, end: number, handler: RtcpHandler): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = start; at + 8 <= end; ) {
    const first = bytes[at]!
    if (first >> 6 !== 2) return
    const next = at + (view.getUint16(at + 2) + 1) * 4
    if (next > end) return
    const type = bytes[at + 1]!
    if (type === senderReport && next - at >= 28) {
      handler.onSenderReport({
        ssrc: view.getUint32(at + 4),
        ntpSeconds: view.getUint32(at + 8),
        ntpFraction: view.getUint32(at + 12),
        rtpTime: view.getUint32(at + 16),
      })
    }
    if (type === bye) {
      const count = Math.min(first & 0x1f, (next - at) / 4 - 1)
      for (let i = 0; i < count; i++) handler.onBye(view.getUint32(at + 4 + i * 4))
    }
    at = next
  }
}
