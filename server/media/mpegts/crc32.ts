// CRC-32/MPEG-2 over a PSI section: most significant bit first, not inverted. ISO/IEC 13818-1 annex A.

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1
  return crc >>> 0
})

/** Returns the checksum of `bytes`. It is 0 over a section that includes its own checksum. */
export function crc32Mpeg2(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crc << 8) ^ table[(crc >>> 24) ^ byte]!
  return crc >>> 0
}
