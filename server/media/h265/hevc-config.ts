// HEVCDecoderConfigurationRecord, "hvcC" (ISO/IEC 14496-15 8.3.3.1), and the codec string (annex E).

import { AppError } from '../../base/error.ts'
import { hevcNalTypeOf } from './nal-unit.ts'
import { type HevcProfile, parseHevcSps } from './sps.ts'

export type HevcConfig = {
  /** NAL units including their header. */
  readonly vps: readonly Uint8Array[]
  readonly sps: readonly Uint8Array[]
  readonly pps: readonly Uint8Array[]
}

const fixedBytes = 23

/**
 * Writes a record for access units with 4-byte lengths. The first SPS is the active one. @throws AppError 'corrupt'
 * when it cannot be parsed
 */
export function writeHevcConfig({ vps, sps, pps }: HevcConfig): Uint8Array {
  const active = parseHevcSps(sps[0] ?? new Uint8Array())
  const lists = [vps, sps, pps].filter((list) => list.length > 0)
  const bytes = lists.flat().reduce((sum, nal) => sum + 2 + nal.length, fixedBytes + 3 * lists.length)
  const record = new Uint8Array(bytes)
  const view = new DataView(record.buffer)
  record[0] = 1
  record[1] = active.spaceTierProfile
  view.setUint32(2, active.compatibility)
  record.set(active.constraints, 6)
  record[12] = active.level
  view.setUint16(13, 0xf000) // spatial segmentation is unknown
  record[15] = 0xfc // the type of parallel decoding is unknown
  record[16] = 0xfc | active.chromaFormat
  record[17] = 0xf8 | (active.bitDepthLuma - 8)
  record[18] = 0xf8 | (active.bitDepthChroma - 8)
  record[21] = (active.temporalLayers << 3) | (active.isTemporallyNested ? 4 : 0) | 3 // 4-byte lengths
  record[22] = lists.length
  let at = fixedBytes
  for (const list of lists) {
    record[at] = 0x80 | hevcNalTypeOf(list[0]![0]!) // array_completeness: the samples contain none of them
    view.setUint16(at + 1, list.length)
    at += 3
    for (const nal of list) {
      view.setUint16(at, nal.length)
      record.set(nal, at + 2)
      at += 2 + nal.length
    }
  }
  return record
}

/**
 * Returns all NAL units of a record in order, as views into it: parameter sets, and SEI where other writers put it.
 * @throws AppError 'corrupt'
 */
export function listHevcConfigNalUnits(record: Uint8Array): Uint8Array[] {
  if (record[0] !== 1 || record.length < fixedBytes) throw new AppError('corrupt', 'hvcC: expected version 1')
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength)
  const units: Uint8Array[] = []
  let at = fixedBytes
  for (let array = 0; array < record[22]!; array++) {
    const count = at + 3 <= record.length ? view.getUint16(at + 1) : Number.POSITIVE_INFINITY
    at += 3
    for (let i = 0; i < count; i++) {
      const end = at + 2 <= record.length ? at + 2 + view.getUint16(at) : Number.POSITIVE_INFINITY
      if (end > record.length) throw new AppError('corrupt', 'hvcC: the record is too short')
      units.push(record.subarray(at + 2, end))
      at = end
    }
  }
  return units
}

/** Returns the profile of a record. @throws AppError 'corrupt' */
export function parseHevcConfigProfile(record: Uint8Array): HevcProfile {
  if (record[0] !== 1 || record.length < fixedBytes) throw new AppError('corrupt', 'hvcC: expected version 1')
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength)
  return {
    spaceTierProfile: record[1]!,
    compatibility: view.getUint32(2),
    constraints: [...record.subarray(6, 12)],
    level: record[12]!,
  }
}

/** The codec string, for example `hvc1.1.6.L93.B0`. */
export function hevcCodecString({ spaceTierProfile, compatibility, constraints, level }: HevcProfile): string {
  const space = ['', 'A', 'B', 'C'][spaceTierProfile >> 6]
  const tier = spaceTierProfile & 0x20 ? 'H' : 'L'
  const last = constraints.findLastIndex((byte) => byte !== 0)
  const parts = [
    'hvc1',
    `${space}${spaceTierProfile & 0x1f}`,
    reverseBits(compatibility).toString(16).toUpperCase(),
    `${tier}${level}`,
    ...constraints.slice(0, last + 1).map((byte) => byte.toString(16).toUpperCase()),
  ]
  return parts.join('.')
}

/** Reverses the order of 32 bits: the codec string wants the first flag in the lowest bit. */
function reverseBits(value: number): number {
  let reversed = 0
  for (let i = 0, rest = value; i < 32; i++, rest = Math.floor(rest / 2)) reversed = reversed * 2 + (rest % 2)
  return reversed
}
