// JPEG files -> RTP payloads (RFC 2435), with the quantization tables of the file in every frame (Q = 255). Supports
// baseline files of three components in one scan, 4:2:2 or 4:2:0, with the Huffman tables of T.81 annex K.

import { AppError } from '../../../../server/base/error.ts'
import { jpegMarker } from '../../../../server/media/jpeg/jpeg-header.ts'

/**
 * Returns the payloads of one frame in order; the RTP marker belongs to the last one. @throws AppError 'invalid' when
 * RTP cannot carry the file
 */
export function packetizeJpeg(jpeg: Uint8Array, maxPayloadBytes = 1400): Uint8Array[] {
  const file = parseJpegParts(jpeg)
  const type = file.type + (file.restartInterval > 0 ? 64 : 0)
  const restart = file.restartInterval > 0 ? [...u16(file.restartInterval), 0xff, 0xff] : []
  const quantizers = [0, 0, ...u16(file.quantizers.length), ...file.quantizers]
  const payloads: Uint8Array[] = []
  for (let at = 0; at < file.scan.length; ) {
    const offset = [at >> 16, (at >> 8) & 0xff, at & 0xff]
    const head = [0, ...offset, type, 255, file.width / 8, file.height / 8, ...restart, ...(at === 0 ? quantizers : [])]
    const end = Math.min(file.scan.length, at + Math.max(1, maxPayloadBytes - head.length))
    const payload = new Uint8Array(head.length + end - at)
    payload.set(head)
    payload.set(file.scan.subarray(at, end), head.length)
    payloads.push(payload)
    at = end
  }
  return payloads
}

type JpegParts = {
  /** Rounded up to whole blocks of 8 as in the payload header; 0 when the size is too large for it. */
  readonly width: number
  readonly height: number
  readonly type: 0 | 1
  readonly restartInterval: number
  readonly quantizers: number[]
  readonly scan: Uint8Array
}

function parseJpegParts(jpeg: Uint8Array): JpegParts {
  const quantizers: number[] = []
  let restartInterval = 0
  let frame: Pick<JpegParts, 'width' | 'height' | 'type'> | undefined
  for (let at = 2; at + 4 <= jpeg.length; ) {
    const marker = jpeg[at + 1]!
    const content = jpeg.subarray(at + 4, at + 2 + ((jpeg[at + 2]! << 8) | jpeg[at + 3]!))
    at += 4 + content.length
    if (marker === jpegMarker.quantizationTables) {
      for (let i = 0; i + 65 <= content.length; i += 65) quantizers.push(...content.subarray(i + 1, i + 65))
    } else if (marker === jpegMarker.restartInterval) restartInterval = (content[0]! << 8) | content[1]!
    else if (marker === jpegMarker.sof0) frame = readFrame(content)
    else if (marker === jpegMarker.startOfScan && frame) {
      return { ...frame, restartInterval, quantizers, scan: jpeg.subarray(at) }
    }
  }
  throw new AppError('invalid', 'JPEG: expected a baseline file with one scan')
}

function readFrame(content: Uint8Array): Pick<JpegParts, 'width' | 'height' | 'type'> {
  const height = (content[1]! << 8) | content[2]!
  const width = (content[3]! << 8) | content[4]!
  const sampling = content[7]
  if (content[5] !== 3 || (sampling !== 0x21 && sampling !== 0x22)) {
    throw new AppError('invalid', 'JPEG: expected three components, 4:2:2 or 4:2:0')
  }
  const blocks = (size: number) => (size > 2040 ? 0 : Math.ceil(size / 8) * 8)
  return { width: blocks(width), height: blocks(height), type: sampling === 0x22 ? 1 : 0 }
}

function u16(value: number): number[] {
  return [value >> 8, value & 0xff]
}
