// An H.264 access unit as a byte stream: start codes instead of lengths, delimiter and parameter sets in front.
// ITU-T H.264 annex B; ISO/IEC 13818-1 2.14.1 asks for the delimiter.

import { AppError } from '../../base/error.ts'
import { parseAvcConfig } from '../h264/avc-config.ts'

const startCode = Uint8Array.of(0, 0, 0, 1)
/** Access unit delimiter that allows every slice type. */
const delimiter = Uint8Array.of(0, 0, 0, 1, 9, 0xf0)

/** The parameter sets of an AVCDecoderConfigurationRecord, each behind a start code. Throws 'corrupt'. */
export function parameterSetsAnnexB(record: Uint8Array): Uint8Array {
  const { sps, pps } = parseAvcConfig(record)
  return concat([...sps, ...pps].flatMap((nal) => [startCode, nal]))
}

/**
 * The parts of an access unit in Annex B form; `data` holds NAL units behind lengths of 4 bytes. Throws 'corrupt' when a
 * length runs over the end.
 */
export function accessUnitAnnexB(data: Uint8Array, parameterSets: Uint8Array | undefined): Uint8Array[] {
  const parts = parameterSets ? [delimiter, parameterSets] : [delimiter]
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  for (let at = 0; at < data.length; ) {
    const length = at + 4 <= data.length ? view.getUint32(at) : Number.POSITIVE_INFINITY
    const end = at + 4 + length
    if (end > data.length) {
      throw new AppError('corrupt', `expected a NAL unit inside ${data.length} bytes, at ${at} one has ${length}`)
    }
    if (length > 0) parts.push(startCode, data.subarray(at + 4, end))
    at = end
  }
  return parts
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}
