// What a sender tells of its stream beside it: RTCP sender reports and BYE (RFC 3550 6.4.1, 6.6). What we answer is receiver-report.ts.

export type RtcpHandler = {
  /** `rtpTime` in the stream's clock is the moment `ntp` of the sender's wall clock: seconds since 1900 with 32 bits of fraction. */
  onSenderReport(report: SenderReport): void
  /** The source says that it ends. */
  onBye(ssrc: number): void
}

export type SenderReport = {
  readonly ssrc: number
  readonly ntpSeconds: number
  readonly ntpFraction: number
  readonly rtpTime: number
}

/** Reports further apart are not of one session's clock. */
const maxApartSeconds = 60

/**
 * The RTP time of `other`, in its clock of `otherRate` Hz, at the moment of `report`: two streams of one sender have the same wall clock.
 * Undefined when the two can't be of one.
 */
export function findSameMoment(report: SenderReport, other: SenderReport, otherRate: number): number | undefined {
  const seconds = ((report.ntpSeconds - other.ntpSeconds) | 0) + (report.ntpFraction - other.ntpFraction) / 2 ** 32
  if (Math.abs(seconds) > maxApartSeconds) return undefined
  return (other.rtpTime + Math.round(seconds * otherRate)) >>> 0
}

const senderReport = 200
const bye = 203

/** Reads the compound packet `bytes[start, end)`; what is not understood, or cut short, is left out. */
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
