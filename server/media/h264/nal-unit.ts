// H.264 NAL unit types (ISO/IEC 14496-10 table 7-1; RFC 6184 5.4).

export const nalType = {
  slice: 1,
  idr: 5,
  sei: 6,
  sps: 7,
  pps: 8,
  accessUnitDelimiter: 9,
  endOfSequence: 10,
  endOfStream: 11,
  filler: 12,
  /** Packet types of RFC 6184. STAP-B, MTAP and FU-B belong to the interleaved mode and are rejected. */
  stapA: 24,
  fuA: 28,
  fuB: 29,
} as const

/** Returns the type of the NAL unit that begins with this byte. */
export function nalTypeOf(firstByte: number): number {
  return firstByte & 0x1f
}
