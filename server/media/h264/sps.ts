// Parses the sequence parameter set (ISO/IEC 14496-10 7.3.2.1.1): picture size, profile, and from the video usability
// information (E.1.1) the frame rate and the reorder depth.

import { AppError } from '../../base/error.ts'
import type { PictureOrder } from '../frame.ts'
import { BitReader } from '../nal/bit-reader.ts'
import { nalType, nalTypeOf } from './nal-unit.ts'

export type Sps = {
  readonly profile: number
  /** The byte of constraint flags between profile and level. */
  readonly constraints: number
  readonly level: number
  /** Pixels, after cropping. */
  readonly width: number
  readonly height: number
  readonly chromaFormat: number
  readonly bitDepthLuma: number
  readonly bitDepthChroma: number
  readonly order: PictureOrder
  readonly slices: SliceFields
  readonly referenceFrames: number
  /** Undefined if the set limits reordering, or its usability information cannot be read. */
  readonly unlimited: UnlimitedReordering | undefined
}

/** A flag of a set that does not limit reordering (`bitstream_restriction_flag`). */
export type UnlimitedReordering = {
  /** The flag is 0, or the one of all usability information is. */
  readonly flag: 'restriction' | 'usability'
  /** Which bit of the set it is, without emulation prevention bytes. */
  readonly at: number
}

/** The fields that are needed to read the beginning of a slice header (7.3.3). */
export type SliceFields = {
  readonly setId: number
  readonly hasColorPlanes: boolean
  readonly frameNumBits: number
  readonly isFrameOnly: boolean
  /** Undefined where pictures are shown in decoding order, or where the order follows a cycle. */
  readonly orderCountBits: number | undefined
  /** Picture order counts follow from the frame numbers by a cycle (pic_order_cnt_type 1). */
  readonly hasOrderCycle: boolean
}

const profilesWithChroma = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135])
/** The baseline profile has no reordered pictures (A.2.1). */
const baselineProfile = 66
/**
 * Reorder depth that is assumed when a stream does not signal it. Hardware encoders use 1, some use 2; the standard
 * would allow 16.
 */
const defaultMaxDepth = 4
const maxDepth = 16
const extendedAspectRatio = 255
const maxPixels = 16_384

/** `nal` begins with the NAL header. @throws AppError 'corrupt' */
export function parseSps(nal: Uint8Array): Sps {
  if (nal.length < 4 || nalTypeOf(nal[0]!) !== nalType.sps) {
    throw new AppError('corrupt', 'H.264: expected a sequence parameter set')
  }
  const reader = new BitReader(nal)
  reader.bits(8)
  const profile = reader.bits(8)
  const constraints = reader.bits(8)
  const level = reader.bits(8)
  const setId = reader.unsigned()
  const { hasColorPlanes, ...chroma } = readChroma(reader, profile)
  const frameNumBits = reader.unsigned() + 4
  const { orderType, orderCountBits } = readPictureOrder(reader)
  const referenceFrames = reader.unsigned()
  reader.bit() // gaps_in_frame_num_value_allowed_flag
  const widthInBlocks = reader.unsigned() + 1
  const heightInUnits = reader.unsigned() + 1
  const isFrameOnly = reader.bit() === 1
  if (!isFrameOnly) reader.bit() // mb_adaptive_frame_field_flag
  reader.bit() // direct_8x8_inference_flag
  const crop = reader.bit() ? readCrop(reader, chroma.chromaFormat, isFrameOnly) : { width: 0, height: 0 }
  const width = widthInBlocks * 16 - crop.width
  const height = heightInUnits * (isFrameOnly ? 16 : 32) - crop.height
  if (width < 1 || height < 1 || width > maxPixels || height > maxPixels) {
    throw new AppError(
      'corrupt',
      `H.264: expected a picture of at most ${maxPixels} pixels per side, found ${width}×${height}`,
    )
  }
  const { frameRate, depth, unlimited } = findUsability(reader)
  const isInOrder = profile === baselineProfile || orderType === 2 || depth === 0
  const order = isInOrder
    ? { depth: 0, maxDepth: 0, frameRate }
    : { depth, maxDepth: Math.max(defaultMaxDepth, depth ?? 0), frameRate }
  const slices = { setId, hasColorPlanes, frameNumBits, isFrameOnly, orderCountBits, hasOrderCycle: orderType === 1 }
  return { profile, constraints, level, width, height, ...chroma, order, slices, referenceFrames, unlimited }
}

function readChroma(reader: BitReader, profile: number) {
  if (!profilesWithChroma.has(profile))
    return { chromaFormat: 1, bitDepthLuma: 8, bitDepthChroma: 8, hasColorPlanes: false }
  const chromaFormat = reader.unsigned()
  const hasColorPlanes = chromaFormat === 3 && reader.bit() === 1
  const bitDepthLuma = reader.unsigned() + 8
  const bitDepthChroma = reader.unsigned() + 8
  reader.bit() // qpprime_y_zero_transform_bypass_flag
  if (reader.bit()) {
    for (let i = 0; i < (chromaFormat === 3 ? 12 : 8); i++) if (reader.bit()) skipScalingList(reader, i < 6 ? 16 : 64)
  }
  return { chromaFormat, bitDepthLuma, bitDepthChroma, hasColorPlanes }
}

function skipScalingList(reader: BitReader, size: number): void {
  let next = 8
  for (let i = 0, last = 8; i < size && next !== 0; i++) {
    next = (last + reader.signed()) & 0xff
    if (next !== 0) last = next
  }
}

/**
 * Reads pic_order_cnt_type and, for type 0, the length of the count. Type 2 means that pictures are shown in decoding
 * order.
 */
function readPictureOrder(reader: BitReader): { orderType: number; orderCountBits: number | undefined } {
  const type = reader.unsigned()
  const orderCountBits = type === 0 ? reader.unsigned() + 4 : undefined
  if (type !== 1) return { orderType: type, orderCountBits }
  reader.bit()
  reader.signed()
  reader.signed()
  const cycle = reader.unsigned()
  if (cycle > 255) throw new AppError('corrupt', 'H.264: expected at most 255 frames in the picture order cycle')
  for (let i = 0; i < cycle; i++) reader.signed()
  return { orderType: type, orderCountBits: undefined }
}

/** The number of cropped pixels (table 6-1 and equations 7-19 to 7-22). */
function readCrop(reader: BitReader, chromaFormat: number, isFrameOnly: boolean) {
  const unitX = chromaFormat === 1 || chromaFormat === 2 ? 2 : 1
  const unitY = (chromaFormat === 1 ? 2 : 1) * (isFrameOnly ? 1 : 2)
  const width = (reader.unsigned() + reader.unsigned()) * unitX
  const height = (reader.unsigned() + reader.unsigned()) * unitY
  return { width, height }
}

type Usability = {
  frameRate: number | undefined
  depth: number | undefined
  unlimited: UnlimitedReordering | undefined
}

/** Encoders often write broken usability information. Values that cannot be read stay undefined. */
function findUsability(reader: BitReader): Usability {
  const found: Usability = { frameRate: undefined, depth: undefined, unlimited: undefined }
  const at = reader.position
  try {
    if (reader.bit()) readUsability(reader, found)
    else found.unlimited = { flag: 'usability', at }
  } catch {
    // The data is too short.
  }
  return found
}

function readUsability(reader: BitReader, found: Usability): void {
  if (reader.bit() && reader.bits(8) === extendedAspectRatio) reader.bits(32)
  if (reader.bit()) reader.bit() // overscan
  if (reader.bit()) {
    reader.bits(4)
    if (reader.bit()) reader.bits(24)
  }
  if (reader.bit()) {
    reader.unsigned()
    reader.unsigned()
  }
  if (reader.bit()) found.frameRate = readFrameRate(reader)
  const hasNalBuffer = reader.bit()
  if (hasNalBuffer) skipBufferModel(reader)
  const hasVclBuffer = reader.bit()
  if (hasVclBuffer) skipBufferModel(reader)
  if (hasNalBuffer || hasVclBuffer) reader.bit() // low_delay_hrd_flag
  reader.bit() // pic_struct_present_flag
  const at = reader.position
  if (!reader.bit()) {
    found.unlimited = { flag: 'restriction', at }
    return
  }
  reader.bit() // motion_vectors_over_pic_boundaries_flag
  for (let i = 0; i < 4; i++) reader.unsigned() // limits of sizes and motion vectors
  const depth = reader.unsigned()
  if (depth <= maxDepth) found.depth = depth
}

function readFrameRate(reader: BitReader): number | undefined {
  const unitsInTick = reader.bits(32)
  const timeScale = reader.bits(32)
  reader.bit() // fixed_frame_rate_flag
  const rate = timeScale / (2 * unitsInTick)
  return rate > 0 && rate <= 1000 ? rate : undefined
}

/** hrd_parameters (E.1.2). */
function skipBufferModel(reader: BitReader): void {
  const count = reader.unsigned() + 1
  reader.bits(8)
  for (let i = 0; i < Math.min(count, 32); i++) {
    reader.unsigned()
    reader.unsigned()
    reader.bit()
  }
  reader.bits(20)
}
