// Parses the sequence parameter set (ITU-T H.265 7.3.2.2): profile, picture size and reorder depth.

import { AppError } from '../../base/error.ts'
import type { PictureOrder } from '../frame.ts'
import { BitReader } from '../nal/bit-reader.ts'
import { hevcNalHeaderBytes, hevcNalType, hevcNalTypeOf } from './nal-unit.ts'

/** The general part of profile_tier_level (7.3.3). */
export type HevcProfile = {
  /** general_profile_space, tier flag and profile_idc in one byte. */
  readonly spaceTierProfile: number
  /** 32 flags, with the first one in the highest bit. */
  readonly compatibility: number
  /** The 6 bytes of progressive, interlaced and other constraints. */
  readonly constraints: readonly number[]
  readonly level: number
}

export type HevcSps = HevcProfile & {
  readonly id: number
  readonly vpsId: number
  readonly temporalLayers: number
  readonly isTemporallyNested: boolean
  readonly chromaFormat: number
  readonly bitDepthLuma: number
  readonly bitDepthChroma: number
  /** Pixels, after cropping. */
  readonly width: number
  readonly height: number
  readonly order: PictureOrder
  /** The fields that are needed to read the beginning of a slice header (7.3.6.1). */
  readonly slices: { readonly setId: number; readonly hasColorPlanes: boolean; readonly orderCountBits: number }
}

const maxPixels = 16_384
const maxPictures = 16

/** `nal` begins with the NAL header. @throws AppError 'corrupt' */
export function parseHevcSps(nal: Uint8Array): HevcSps {
  if (nal.length <= hevcNalHeaderBytes || hevcNalTypeOf(nal[0]!) !== hevcNalType.sps) {
    throw new AppError('corrupt', 'H.265: expected a sequence parameter set')
  }
  const reader = new BitReader(nal)
  reader.bits(hevcNalHeaderBytes * 8)
  const vpsId = reader.bits(4)
  const subLayers = reader.bits(3)
  const isTemporallyNested = reader.bit() === 1
  const profile = readProfile(reader, subLayers)
  const id = reader.unsigned()
  if (id > 15 || subLayers > 6)
    throw new AppError('corrupt', `H.265: invalid sequence parameter set id ${id} or sub-layer count ${subLayers}`)
  const chromaFormat = reader.unsigned()
  if (chromaFormat > 3) throw new AppError('corrupt', `H.265: expected a chroma format up to 3, found ${chromaFormat}`)
  const hasColorPlanes = chromaFormat === 3 && reader.bit() === 1
  const codedWidth = reader.unsigned()
  const codedHeight = reader.unsigned()
  const crop = reader.bit() ? readWindow(reader, chromaFormat) : { width: 0, height: 0 }
  const width = codedWidth - crop.width
  const height = codedHeight - crop.height
  if (width < 1 || height < 1 || width > maxPixels || height > maxPixels) {
    const found = `${width}×${height}`
    throw new AppError('corrupt', `H.265: expected a picture of at most ${maxPixels} pixels per side, found ${found}`)
  }
  const bitDepthLuma = reader.unsigned() + 8
  const bitDepthChroma = reader.unsigned() + 8
  if (bitDepthLuma > 16 || bitDepthChroma > 16)
    throw new AppError('corrupt', 'H.265: expected at most 16 bits per sample')
  const orderCountBits = reader.unsigned() + 4
  const depth = readReorderDepth(reader, subLayers)
  return {
    ...profile,
    id,
    vpsId,
    temporalLayers: subLayers + 1,
    isTemporallyNested,
    chromaFormat,
    bitDepthLuma,
    bitDepthChroma,
    width,
    height,
    order: { depth, maxDepth: depth, frameRate: undefined },
    slices: { setId: id, hasColorPlanes, orderCountBits },
  }
}

function readProfile(reader: BitReader, subLayers: number): HevcProfile {
  const spaceTierProfile = reader.bits(8)
  const compatibility = reader.bits(32)
  const constraints = Array.from({ length: 6 }, () => reader.bits(8))
  const level = reader.bits(8)
  const layers = Array.from({ length: subLayers }, () => ({ hasProfile: reader.bit(), hasLevel: reader.bit() }))
  if (subLayers > 0) for (let i = subLayers; i < 8; i++) reader.bits(2)
  for (const { hasProfile, hasLevel } of layers) {
    if (hasProfile) for (let i = 0; i < 11; i++) reader.bits(8)
    if (hasLevel) reader.bits(8)
  }
  return { spaceTierProfile, compatibility, constraints, level }
}

/** The number of cropped pixels (table 6-1). */
function readWindow(reader: BitReader, chromaFormat: number): { width: number; height: number } {
  const unitX = chromaFormat === 1 || chromaFormat === 2 ? 2 : 1
  const unitY = chromaFormat === 1 ? 2 : 1
  const width = (reader.unsigned() + reader.unsigned()) * unitX
  const height = (reader.unsigned() + reader.unsigned()) * unitY
  return { width, height }
}

/** sps_max_num_reorder_pics of the highest sub-layer, because all layers are passed on. */
function readReorderDepth(reader: BitReader, subLayers: number): number {
  const isForEach = reader.bit() === 1
  let depth = 0
  for (let i = isForEach ? 0 : subLayers; i <= subLayers; i++) {
    reader.unsigned() // sps_max_dec_pic_buffering_minus1
    depth = reader.unsigned()
    reader.unsigned() // sps_max_latency_increase_plus1
  }
  if (depth > maxPictures)
    throw new AppError('corrupt', `H.265: expected at most 16 reordered pictures, found ${depth}`)
  return depth
}
