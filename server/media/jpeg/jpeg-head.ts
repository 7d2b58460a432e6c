// Writes the part of a JPEG file that RTP omits and the receiver rebuilds (RFC 2435 3.1 and 4): everything before the
// scan data.

import { jpegMarker } from './jpeg-header.ts'
import { coefficients, writeHuffmanSegment, writeSegment } from './jpeg-tables.ts'

export type ScanHead = {
  readonly width: number
  readonly height: number
  /** True for 4:2:0 (type 1), false for 4:2:2 (type 0). */
  readonly isHalfHeight: boolean
  /** Macroblocks between restart markers; 0 when there are none. */
  readonly restartInterval: number
  /** One table, or luma and chroma, in zigzag order. */
  readonly quantizers: Quantizers
}

export type Quantizers = {
  readonly bytes: Uint8Array
  /** Bit n is set when the values of table n have 16 bits. */
  readonly precision: number
}

const huffmanSegment = writeHuffmanSegment()
const startOfImage = Uint8Array.of(0xff, jpegMarker.startOfImage)
/** JFIF 1.1, square pixels, no thumbnail. */
const jfif = writeSegment(jpegMarker.app0, [0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0])
/** Three components, Huffman table 0 for luma and 1 for chroma, the whole spectrum in one scan. */
const startOfScan = writeSegment(jpegMarker.startOfScan, [3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 63, 0])

/** Writes everything before the scan data. The scan data and the end-of-image marker follow it in the file. */
export function writeScanHead(head: ScanHead): Uint8Array {
  const tables = splitQuantizers(head.quantizers)
  const isExtended = tables.some(({ is16Bit }) => is16Bit)
  const parts = [startOfImage, jfif]
  for (const [id, { bytes, is16Bit }] of tables.entries()) {
    parts.push(writeSegment(jpegMarker.quantizationTables, [(is16Bit ? 0x10 : 0) | id, ...bytes]))
  }
  if (head.restartInterval > 0) parts.push(writeSegment(jpegMarker.restartInterval, u16(head.restartInterval)))
  // Baseline allows only 8-bit tables.
  parts.push(writeSegment(isExtended ? jpegMarker.sof1 : jpegMarker.sof0, frameHeader(head, tables.length)))
  parts.push(huffmanSegment, startOfScan)
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

function frameHeader({ width, height, isHalfHeight }: ScanHead, tableCount: number): number[] {
  const chromaTable = tableCount > 1 ? 1 : 0
  const luma = [1, isHalfHeight ? 0x22 : 0x21, 0]
  return [8, ...u16(height), ...u16(width), 3, ...luma, 2, 0x11, chromaTable, 3, 0x11, chromaTable]
}

type Table = { readonly bytes: Uint8Array; readonly is16Bit: boolean }

/** Returns at most two tables. Incomplete tables are left out. */
function splitQuantizers({ bytes, precision }: Quantizers): Table[] {
  const tables: Table[] = []
  for (let at = 0; tables.length < 2; ) {
    const is16Bit = ((precision >> tables.length) & 1) === 1
    const end = at + coefficients * (is16Bit ? 2 : 1)
    if (end > bytes.length) break
    tables.push({ bytes: bytes.subarray(at, end), is16Bit })
    at = end
  }
  return tables
}

function u16(value: number): number[] {
  return [value >> 8, value & 0xff]
}
