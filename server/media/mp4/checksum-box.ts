// The box before each recorded fragment that contains the checksum of the fragment and the id of its camera. It is a
// `uuid` box (ISO/IEC 14496-12 11.1), which other readers skip. The checksum is CRC-32/ISO-HDLC (as in zlib) over the
// bytes from the end of this box to the end of the fragment.

export type ChecksumBox = {
  readonly checksum: number
  readonly cameraId: number
}

export const checksumBoxBytes = 36

/** The type of this extension. No other program writes boxes of this type. */
const type = Uint8Array.of(
  ...[0xea, 0xe5, 0x9b, 0xd8, 0xac, 0xfc, 0x41, 0x1c],
  ...[0x9b, 0xac, 0xf9, 0x4d, 0x25, 0x43, 0x5c, 0x78],
)

export function writeChecksumBox({ checksum, cameraId }: ChecksumBox): Uint8Array {
  const out = new Uint8Array(checksumBoxBytes)
  const view = new DataView(out.buffer)
  view.setUint32(0, checksumBoxBytes)
  view.setUint32(4, 0x75756964 /* uuid */)
  out.set(type, 8)
  view.setUint32(24, checksum)
  view.setUint32(28, Math.floor(cameraId / 0x100000000))
  view.setUint32(32, cameraId % 0x100000000)
  return out
}

/** Parses bytes that begin with a complete box. Returns undefined when it is not a checksum box. */
export function parseChecksumBox(bytes: Uint8Array): ChecksumBox | undefined {
  if (bytes.length < checksumBoxBytes || !type.every((byte, i) => bytes[8 + i] === byte)) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.getUint32(0) !== checksumBoxBytes || view.getUint32(4) !== 0x75756964) return undefined
  return {
    checksum: view.getUint32(24),
    cameraId: view.getUint32(28) * 0x100000000 + view.getUint32(32),
  }
}
