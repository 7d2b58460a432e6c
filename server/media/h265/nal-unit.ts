// H.265 NAL unit types (ITU-T H.265 table 7-1; RFC 7798 4.4).

export const hevcNalType = {
  /**
   * Leading pictures: shown before the key frame that they follow. When decoding starts at that key frame, RADL
   * pictures are decodable and RASL pictures are not.
   */
  radlN: 6,
  raslN: 8,
  raslR: 9,
  /** Pictures where a decoder can start: BLA, IDR, CRA. */
  firstIrap: 16,
  idrWithLeading: 19,
  cra: 21,
  lastIrap: 21,
  vps: 32,
  sps: 33,
  pps: 34,
  accessUnitDelimiter: 35,
  prefixSei: 39,
  suffixSei: 40,
  /** Packet types of RFC 7798. PACI is rejected. */
  aggregate: 48,
  fragment: 49,
  paci: 50,
} as const

export const hevcNalHeaderBytes = 2

/** Returns the type of the NAL unit that begins with this byte. */
export function hevcNalTypeOf(firstByte: number): number {
  return (firstByte >> 1) & 0x3f
}
