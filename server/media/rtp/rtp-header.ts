// Reads the RTP fixed header (RFC 3550 5.1) without allocation, and writes it before a payload.

/** Reused for every packet; see `readRtpHeader`. */
export type RtpHeader = {
  payloadType: number
  isMarked: boolean
  sequence: number
  /** 32 bits in the clock of the payload; wraps around. */
  timestamp: number
  ssrc: number
  /** The payload is `bytes[payloadStart, payloadEnd)`, without header extension and padding. */
  payloadStart: number
  payloadEnd: number
  /** What the first 16 bits of the header extension say of its content, or -1. Its content ends where the payload starts. */
  extensionProfile: number
  extensionStart: number
}

export function createRtpHeader(): RtpHeader {
  return {
    payloadType: 0,
    isMarked: false,
    sequence: 0,
    timestamp: 0,
    ssrc: 0,
    payloadStart: 0,
    payloadEnd: 0,
    extensionProfile: -1,
    extensionStart: 0,
  }
}

/**
 * Parses the packet `bytes[start, end)` into `header`. Returns false when it is not an RTP packet; `header` is then
 * undefined.
 */
export function readRtpHeader(bytes: Uint8Array, start: number, end: number, header: RtpHeader): boolean {
  if (end - start < 12) return false
  const first = bytes[start]!
  if (first >> 6 !== 2) return false
  let payloadStart = start + 12 + (first & 0x0f) * 4
  header.extensionProfile = -1
  if (first & 0x10) {
    if (payloadStart + 4 > end) return false
    header.extensionProfile = (bytes[payloadStart]! << 8) | bytes[payloadStart + 1]!
    header.extensionStart = payloadStart + 4
    payloadStart += 4 + ((bytes[payloadStart + 2]! << 8) | bytes[payloadStart + 3]!) * 4
  }
  if (payloadStart > end) return false
  let payloadEnd = end
  if (first & 0x20) {
    // Some cameras announce padding and send none, so the last byte is any.
    const padding = bytes[end - 1]!
    if (padding <= end - payloadStart) payloadEnd -= padding
  }
  const second = bytes[start + 1]!
  header.isMarked = second >= 0x80
  header.payloadType = second & 0x7f
  header.sequence = (bytes[start + 2]! << 8) | bytes[start + 3]!
  header.timestamp = uint32(bytes, start + 4)
  header.ssrc = uint32(bytes, start + 8)
  header.payloadStart = payloadStart
  header.payloadEnd = payloadEnd
  return true
}

function uint32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
}

export const rtpHeaderBytes = 12

export type RtpFields = {
  readonly payloadType: number
  readonly isMarked: boolean
  readonly sequence: number
  readonly timestamp: number
  readonly ssrc: number
}

/** Writes the twelve bytes of a header without extension. Counters are reduced to their widths. */
export function writeRtpHeader(into: Uint8Array, at: number, fields: RtpFields): void {
  const view = new DataView(into.buffer, into.byteOffset + at, rtpHeaderBytes)
  view.setUint8(0, 0x80)
  view.setUint8(1, (fields.isMarked ? 0x80 : 0) | (fields.payloadType & 0x7f))
  view.setUint16(2, fields.sequence)
  view.setUint32(4, fields.timestamp)
  view.setUint32(8, fields.ssrc)
}

/** Returns a packet of header and payload. */
export function writeRtpPacket(fields: RtpFields, payload: Uint8Array): Uint8Array {
  const packet = new Uint8Array(rtpHeaderBytes + payload.length)
  writeRtpHeader(packet, 0, fields)
  packet.set(payload, rtpHeaderBytes)
  return packet
}
