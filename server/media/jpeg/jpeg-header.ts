// Parses the header of a JPEG file (ITU-T T.81 annex B) for its size and the kind of JPEG.

import { AppError } from '../../base/error.ts'
import type { VideoFormat } from '../frame.ts'

export const jpegMarker = {
  /** Frame headers: baseline, extended sequential and progressive. */
  sof0: 0xc0,
  sof1: 0xc1,
  sof2: 0xc2,
  huffmanTables: 0xc4,
  startOfImage: 0xd8,
  endOfImage: 0xd9,
  startOfScan: 0xda,
  quantizationTables: 0xdb,
  restartInterval: 0xdd,
  app0: 0xe0,
} as const

export type JpegHeader = {
  readonly width: number
  readonly height: number
  /** 1 for grayscale, 3 for color. */
  readonly components: number
  /** False for progressive files, which some MJPEG players cannot show. */
  readonly isSequential: boolean
  /** False for the abbreviated format of AVI files and some cameras. Decoders then use the tables of annex K. */
  readonly hasHuffmanTables: boolean
}

/** Parses up to the first scan and ignores the rest. @throws AppError 'corrupt' when this is not a JPEG file */
export function parseJpegHeader(jpeg: Uint8Array): JpegHeader {
  if (jpeg[0] !== 0xff || jpeg[1] !== jpegMarker.startOfImage) throw corrupt('expected FF D8 at the start')
  let frame: Omit<JpegHeader, 'hasHuffmanTables'> | undefined
  let hasHuffmanTables = false
  for (let at = 2; ; ) {
    if (jpeg[at] !== 0xff) throw corrupt(`expected a marker at byte ${at}`)
    while (jpeg[at] === 0xff) at++ // a marker may be preceded by any number of fill bytes
    const marker = jpeg[at++]
    const bytes = ((jpeg[at] ?? 0) << 8) | (jpeg[at + 1] ?? 0)
    if (marker === undefined || bytes < 2 || at + bytes > jpeg.length) throw corrupt('the header is too short')
    if (marker === jpegMarker.startOfScan) break
    if (marker === jpegMarker.huffmanTables) hasHuffmanTables = true
    if (isFrameHeader(marker)) frame = readFrame(marker, jpeg.subarray(at, at + bytes))
    at += bytes
  }
  if (!frame) throw corrupt('expected a frame header before the first scan')
  return { ...frame, hasHuffmanTables }
}

export type JpegSegments = {
  readonly size: { readonly width: number; readonly height: number } | undefined
  /** Those with the numbers 0 and 1, in order. Bit n of `precision` is set when the values of table n have 16 bits. */
  readonly quantizers: { readonly bytes: Uint8Array; readonly precision: number } | undefined
}

/** Reads the segments of a header without its start, as far as they are whole. */
export function readJpegSegments(bytes: Uint8Array): JpegSegments {
  let size: JpegSegments['size']
  const tables: { readonly bytes: Uint8Array; readonly is16Bit: boolean }[] = []
  for (let at = 0; bytes[at] === 0xff; ) {
    while (bytes[at] === 0xff) at++
    const marker = bytes[at++]
    const end = at + (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0))
    if (marker === undefined || end < at + 2 || end > bytes.length) break
    if (isFrameHeader(marker) && end >= at + 8) {
      try {
        const { width, height } = readFrame(marker, bytes.subarray(at, end))
        size = { width, height }
      } catch {
        // A size of 0 says nothing.
      }
    }
    for (let next = at + 2; marker === jpegMarker.quantizationTables && next < end; ) {
      const is16Bit = bytes[next]! >> 4 === 1
      const tableEnd = next + 1 + (is16Bit ? 128 : 64)
      if (tableEnd > end) break
      tables[bytes[next]! & 0x0f] = { bytes: bytes.slice(next + 1, tableEnd), is16Bit }
      next = tableEnd
    }
    at = end
  }
  const [first, second] = tables
  const used = first && second ? [first, second] : first ? [first] : []
  const precision = (first?.is16Bit ? 1 : 0) | (second?.is16Bit ? 2 : 0)
  const joined = Uint8Array.from(used.flatMap((table) => [...table.bytes]))
  return { size, quantizers: used.length > 0 ? { bytes: joined, precision } : undefined }
}

/** Returns the format of a stream of such frames. */
export function createJpegFormat({ width, height }: Pick<JpegHeader, 'width' | 'height'>): VideoFormat {
  // 0x6C is the object type of JPEG in ISO/IEC 14496-1.
  return { codec: 'mjpeg', width, height, config: new Uint8Array(), codecString: 'mp4v.6C' }
}

/** True for C0 to CF, except for three values that are tables or reserved. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

/** `segment` begins with its length. */
function readFrame(marker: number, segment: Uint8Array): Omit<JpegHeader, 'hasHuffmanTables'> {
  if (segment.length < 8) throw corrupt('the frame header is too short')
  const height = (segment[3]! << 8) | segment[4]!
  const width = (segment[5]! << 8) | segment[6]!
  if (width === 0 || height === 0) throw corrupt(`expected an image of at least 1×1 pixels, found ${width}×${height}`)
  return { width, height, components: segment[7]!, isSequential: marker === 0xc0 || marker === 0xc1 }
}

function corrupt(what: string): AppError {
  return new AppError('corrupt', `JPEG: ${what}`)
}
