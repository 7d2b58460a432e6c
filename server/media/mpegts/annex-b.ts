// Converts an access unit of H.264 or H.265 to a byte stream: start codes instead of lengths, with a delimiter and
// parameter sets in front (Annex B of ITU-T H.264 and H.265). ISO/IEC 13818-1 2.14.1 and 2.17.1 require the delimiter.

import { AppError } from '../../base/error.ts'
import type { VideoFormat } from '../frame.ts'
import { parseAvcConfig } from '../h264/avc-config.ts'
import { listHevcConfigNalUnits } from '../h265/hevc-config.ts'

const startCode = Uint8Array.of(0, 0, 0, 1)
/** Access unit delimiters that allow all slice types. */
const delimiters = {
  h264: Uint8Array.of(0, 0, 0, 1, 9, 0xf0),
  h265: Uint8Array.of(0, 0, 0, 1, 0x46, 1, 0x50),
} as const

export type AnnexBCodec = keyof typeof delimiters

/** Returns the parameter sets of a configuration record with start codes. Throws 'corrupt'. */
export function parameterSetsAnnexB(codec: AnnexBCodec, { config }: VideoFormat): Uint8Array {
  if (codec === 'h265') return concat(listHevcConfigNalUnits(config).flatMap((nal) => [startCode, nal]))
  const { sps, pps } = parseAvcConfig(config)
  return concat([...sps, ...pps].flatMap((nal) => [startCode, nal]))
}

/**
 * Returns the parts of an access unit in Annex B form. `data` contains NAL units with 4-byte lengths. Throws 'corrupt'
 * when a length extends beyond the end.
 */
export function accessUnitAnnexB(
  codec: AnnexBCodec,
  data: Uint8Array,
  parameterSets: Uint8Array | undefined,
): Uint8Array[] {
  const parts: Uint8Array[] = parameterSets ? [delimiters[codec], parameterSets] : [delimiters[codec]]
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  for (let at = 0; at < data.length; ) {
    const length = at + 4 <= data.length ? view.getUint32(at) : Number.POSITIVE_INFINITY
    const end = at + 4 + length
    if (end > data.length) {
      throw new AppError(
        'corrupt',
        `expected a NAL unit within ${data.length} bytes, but the one at ${at} has ${length} bytes`,
      )
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
