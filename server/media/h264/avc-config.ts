// AVCDecoderConfigurationRecord, "avcC" (ISO/IEC 14496-15 5.3.3.1): the parameter sets that a decoder needs before the
// first frame.

import { AppError } from '../../base/error.ts'
import { parseSps } from './sps.ts'

export type AvcConfig = {
  /** NAL units, each with its header byte. */
  readonly sps: readonly Uint8Array[]
  readonly pps: readonly Uint8Array[]
}

const profilesWithoutExtension = new Set([66, 77, 88])

/**
 * Writes a record for access units with 4-byte lengths. @throws AppError 'corrupt' when the first SPS cannot be parsed
 */
export function writeAvcConfig({ sps, pps }: AvcConfig): Uint8Array {
  const first = parseSps(sps[0] ?? new Uint8Array())
  const extension = profilesWithoutExtension.has(first.profile)
    ? []
    : [0xfc | first.chromaFormat, 0xf8 | (first.bitDepthLuma - 8), 0xf8 | (first.bitDepthChroma - 8), 0]
  const parts = [
    Uint8Array.of(1, first.profile, first.constraints, first.level, 0xff, 0xe0 | sps.length),
    ...sps.flatMap(withLength),
    Uint8Array.of(pps.length),
    ...pps.flatMap(withLength),
    Uint8Array.from(extension),
  ]
  const record = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    record.set(part, at)
    at += part.length
  }
  return record
}

function withLength(nal: Uint8Array): Uint8Array[] {
  return [Uint8Array.of(nal.length >> 8, nal.length & 0xff), nal]
}

/** Returns the parameter sets of a record as views into it. @throws AppError 'corrupt' */
export function parseAvcConfig(record: Uint8Array): AvcConfig {
  if (record[0] !== 1) throw new AppError('corrupt', 'avcC: expected version 1')
  let at = 5
  const readList = (count: number) => {
    const list: Uint8Array[] = []
    for (let i = 0; i < count; i++) {
      const end = at + 2 + (((record[at] ?? 0) << 8) | (record[at + 1] ?? 0))
      if (end > record.length) throw new AppError('corrupt', 'avcC: the record is too short')
      list.push(record.subarray(at + 2, end))
      at = end
    }
    return list
  }
  const readCount = () => {
    const count = record[at++]
    if (count === undefined) throw new AppError('corrupt', 'avcC: the record is too short')
    return count
  }
  const sps = readList(readCount() & 0x1f)
  const pps = readList(readCount())
  return { sps, pps }
}

/** The codec string of RFC 6381 3.3, for example `avc1.4d401f`. `sps` begins with the NAL header. */
export function avcCodecString(sps: Uint8Array): string {
  return `avc1.${[...sps.subarray(1, 4)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
