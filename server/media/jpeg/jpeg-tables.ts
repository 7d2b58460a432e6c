// The tables that RTP omits from a JPEG file, and their segments: the quantization and Huffman tables of ITU-T T.81
// annex K. Quantization is scaled as in RFC 2435 appendix A.

import { jpegMarker } from './jpeg-header.ts'

/** Table K.1, row by row. */
const lumaQuantizers = [
  16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51,
  87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101,
  72, 92, 95, 98, 112, 100, 103, 99,
]

/** The corner of table K.2; all other values are 99. */
const chromaCorner = [
  [17, 18, 24, 47],
  [18, 21, 26, 66],
  [24, 26, 56, 99],
  [47, 66, 99, 99],
]

export const coefficients = 64

/** Row-major index of the n-th coefficient in zigzag order (T.81 figure A.6). */
const zigzag = createZigzag()

function createZigzag(): number[] {
  const order: number[] = []
  for (let diagonal = 0; diagonal < 15; diagonal++) {
    const first = Math.max(0, diagonal - 7)
    const last = Math.min(7, diagonal)
    for (let i = first; i <= last; i++) {
      const row = diagonal % 2 === 0 ? last + first - i : i
      order.push(row * 8 + (diagonal - row))
    }
  }
  return order
}

/** Returns two tables of 64 bytes in zigzag order, luma and chroma, for a `Q` of 1 to 99 (RFC 2435 4.2). */
export function createQuantizers(q: number): Uint8Array {
  const factor = Math.max(1, Math.min(99, q))
  const scale = factor < 50 ? Math.floor(5000 / factor) : 200 - factor * 2
  const scaled = (value: number) => Math.max(1, Math.min(255, Math.floor((value * scale + 50) / 100)))
  const tables = new Uint8Array(2 * coefficients)
  for (const [i, at] of zigzag.entries()) {
    tables[i] = scaled(lumaQuantizers[at]!)
    tables[coefficients + i] = scaled(chromaCorner[at >> 3]?.[at & 7] ?? 99)
  }
  return tables
}

/** The number of codes of each length from 1 to 16 bits, then the values in code order (tables K.3 to K.6). */
type HuffmanTable = { readonly id: number; readonly counts: readonly number[]; readonly values: readonly number[] }

const dcValues = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]

const lumaAcValues = bytesOf(
  '01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a' +
    '434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9' +
    'aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa',
)

const chromaAcValues = bytesOf(
  '0001020311040521310612415107617113223281081442' +
    '91a1b1c109233352f0156272d10a162434e125f11718191a262728292a35363738393a434445464748494a535455565758595a63646566' +
    '6768696a737475767778797a82838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8' +
    'c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9fa',
)

/** The upper half of the id is the class (0 DC, 1 AC), the lower half the number. */
const huffmanTables: readonly HuffmanTable[] = [
  { id: 0x00, counts: [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0], values: dcValues },
  { id: 0x10, counts: [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125], values: lumaAcValues },
  { id: 0x01, counts: [0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0], values: dcValues },
  { id: 0x11, counts: [0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119], values: chromaAcValues },
]

/** Writes one segment with all four tables. */
export function writeHuffmanSegment(): Uint8Array {
  const content = huffmanTables.flatMap(({ id, counts, values }) => [id, ...counts, ...values])
  return writeSegment(jpegMarker.huffmanTables, content)
}

/** Writes a marker segment (T.81 B.1.1.4): marker, length, content. */
export function writeSegment(marker: number, content: ArrayLike<number>): Uint8Array {
  const segment = new Uint8Array(4 + content.length)
  segment.set([0xff, marker, (content.length + 2) >> 8, (content.length + 2) & 0xff])
  segment.set(content, 4)
  return segment
}

function bytesOf(hex: string): number[] {
  return Array.from(hex.match(/../g)!, (byte) => Number.parseInt(byte, 16))
}
