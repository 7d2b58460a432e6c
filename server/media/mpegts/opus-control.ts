// Writes the control header before each Opus packet in a transport stream ("Opus in MPEG-TS" 3): no trimming, then the
// length.

/** 11 bits of prefix, no trimming, no extension. */
const prefix = [0x7f, 0xe0]

export function writeOpusControlHeader(packetBytes: number): Uint8Array {
  const full = Math.floor(packetBytes / 255)
  const header = new Uint8Array(prefix.length + full + 1).fill(255)
  header.set(prefix)
  header[header.length - 1] = packetBytes - full * 255
  return header
}
