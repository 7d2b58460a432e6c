// The box before each recorded fragment that holds its checksum: `uuid`, an extension as ISO/IEC 14496-12 11.1 has them, skipped
// by whoever does not know it. CRC-32 as in ISO-HDLC (zlib), over what follows the box up to the end of the fragment.

const boxBytes = 28

/** Ours; no other program writes boxes of this type. */
const type = Uint8Array.of(
  ...[0xea, 0xe5, 0x9b, 0xd8, 0xac, 0xfc, 0x41, 0x1c],
  ...[0x9b, 0xac, 0xf9, 0x4d, 0x25, 0x43, 0x5c, 0x78],
)

export function writeChecksumBox(crc32: number): Uint8Array {
  const out = new Uint8Array(boxBytes)
  const view = new DataView(out.buffer)
  view.setUint32(0, boxBytes)
  view.setUint32(4, 0x75756964 /* uuid */)
  out.set(type, 8)
  view.setUint32(24, crc32)
  return out
}

/** Of one whole `uuid` box; undefined when it is another's. */
export function parseChecksumBox(box: Uint8Array): number | undefined {
  if (box.length !== boxBytes || !type.every((byte, i) => box[8 + i] === byte)) return undefined
  return new DataView(box.buffer, box.byteOffset).getUint32(24)
}
