// Writes the RTCP packet that tells a sender that the receiver is alive and how many packets were lost: RR with SDES
// CNAME (RFC 3550 6.4.2, 6.5).

export type ReceiverReport = {
  readonly ownSsrc: number
  readonly senderSsrc: number
  /** Fraction of packets lost since the last report, 0 to 1, as far as known. */
  readonly fractionLost?: number
  /** Total since the start; reduced to 24 bits. */
  readonly lostPackets: number
  /** The highest sequence number received, with the number of wraps above bit 16. */
  readonly highestSequence: number
  /**
   * The middle 32 bits of the NTP time of the last sender report, and the time since it arrived. Undefined before the
   * first one.
   */
  readonly lastReport?: { readonly ntpMiddle: number; readonly agoMs: number } | undefined
}

export const receiverReportBytes = 32 + 12

/** Jitter is always 0, because cameras cannot act on it. */
export function writeReceiverReport(report: ReceiverReport): Uint8Array {
  const { ownSsrc, senderSsrc, fractionLost = 0, lostPackets, highestSequence, lastReport } = report
  const bytes = new Uint8Array(receiverReportBytes)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, 0x81c9)
  view.setUint16(2, 7)
  view.setUint32(4, ownSsrc)
  view.setUint32(8, senderSsrc)
  view.setUint32(12, Math.min(lostPackets, 0x7fffff))
  view.setUint8(12, Math.min(255, Math.floor(fractionLost * 256)))
  view.setUint32(16, highestSequence)
  if (lastReport) {
    view.setUint32(24, lastReport.ntpMiddle)
    view.setUint32(28, Math.min(0xffffffff, Math.round(lastReport.agoMs * 65.536)))
  }
  view.setUint16(32, 0x81ca)
  view.setUint16(34, 2)
  view.setUint32(36, ownSsrc)
  // CNAME "-": the item is mandatory, but there is no name to report.
  bytes.set([1, 1, 0x2d], 40)
  return bytes
}

/** Writes an empty report for the time before the first packet. It opens the return path through routers. */
export function writeEmptyReport(ownSsrc: number): Uint8Array {
  const bytes = new Uint8Array(8)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, 0x80c9)
  view.setUint16(2, 1)
  view.setUint32(4, ownSsrc)
  return bytes
}
