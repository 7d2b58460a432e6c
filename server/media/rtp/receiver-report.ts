// The RTCP packet that tells a sender we are alive and how much got lost: RR with SDES CNAME (RFC 3550 6.4.2, 6.5).

export type ReceiverReport = {
  readonly ownSsrc: number
  readonly senderSsrc: number
  /** Counted since the beginning; cut to 24 bits. */
  readonly lostPackets: number
  /** Highest sequence number seen, with the count of its wraps above bit 16. */
  readonly highestSequence: number
}

export const receiverReportBytes = 32 + 12

/** Jitter and the times of the last sender report are left 0, "not known". */
export function writeReceiverReport(report: ReceiverReport): Uint8Array {
  const bytes = new Uint8Array(receiverReportBytes)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, 0x81c9)
  view.setUint16(2, 7)
  view.setUint32(4, report.ownSsrc)
  view.setUint32(8, report.senderSsrc)
  view.setUint32(12, Math.min(report.lostPackets, 0x7fffff))
  view.setUint32(16, report.highestSequence)
  view.setUint16(32, 0x81ca)
  view.setUint16(34, 2)
  view.setUint32(36, report.ownSsrc)
  // CNAME "-": the item must be there, and there is nothing to tell.
  bytes.set([1, 1, 0x2d], 40)
  return bytes
}
