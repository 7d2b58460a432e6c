// Finds the consecutive boxes of a file without parsing their content. ISO/IEC 14496-12 4.2.

import { AppError } from '../../base/error.ts'

export type BoxHeader = {
  /** Four characters. */
  readonly type: string
  /** Size of the box including its header. */
  readonly bytes: number
  /** 8, or 16 for a box with a 64-bit size. */
  readonly headerBytes: number
}

/** A header of this length can always be parsed. */
export const maxBoxHeaderBytes = 16

/**
 * Parses the box header at `at`. Returns undefined when the bytes end inside it. Throws 'corrupt' for a size smaller
 * than the header or beyond 2^53, and for a type that is not four printable characters. A box that extends to the end
 * of the file (size 0) is rejected: recorded files have none, and zeros in a damaged file look like one.
 */
export function parseBoxHeader(bytes: Uint8Array, at = 0): BoxHeader | undefined {
  if (bytes.length - at < 8) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let size = view.getUint32(at)
  let headerBytes = 8
  const type = parseType(bytes, at + 4)
  if (size === 1) {
    if (bytes.length - at < 16) return undefined
    size = view.getUint32(at + 8) * 0x100000000 + view.getUint32(at + 12)
    headerBytes = 16
  }
  if (size < headerBytes || !Number.isSafeInteger(size)) {
    throw new AppError('corrupt', `expected a size of at least ${headerBytes} for box ${type}, got ${size}`)
  }
  return { type, bytes: size, headerBytes }
}

function parseType(bytes: Uint8Array, at: number): string {
  let type = ''
  for (let i = at; i < at + 4; i++) {
    const code = bytes[i]!
    if (code < 0x20 || code > 0x7e) throw new AppError('corrupt', 'expected a box type of four printable characters')
    type += String.fromCharCode(code)
  }
  return type
}

/** A complete box in `bytes`. */
export type ScannedBox = BoxHeader & { readonly offset: number }

/**
 * Returns the complete boxes of `bytes` from `start` to `end`, and where the first incomplete one begins (`restOffset`,
 * equal to `end` when there is none). Throws 'corrupt' like `parseBoxHeader`.
 */
export function scanBoxes(
  bytes: Uint8Array,
  start = 0,
  end = bytes.length,
): { readonly boxes: ScannedBox[]; readonly restOffset: number } {
  const region = bytes.subarray(0, end)
  const boxes: ScannedBox[] = []
  let offset = start
  while (offset < end) {
    const header = parseBoxHeader(region, offset)
    if (!header || offset + header.bytes > end) break
    boxes.push({ ...header, offset })
    offset += header.bytes
  }
  return { boxes, restOffset: offset }
}
