// Parses the header of an H.264 slice (ISO/IEC 14496-10 7.3.3): the fields that link a frame to earlier ones, and their
// bit positions. Supports frames without slice groups; fields and other rare features are rejected.

import { AppError } from '../../base/error.ts'
import { nalType, nalTypeOf } from './nal-unit.ts'
import type { Pps } from './pps.ts'
import { RbspReader } from './rbsp.ts'
import type { Sps } from './sps.ts'

/** A range of bits in the unescaped NAL unit, counted from its header byte. */
export type BitSpan = { readonly from: number; readonly to: number }

export type SliceHeader = {
  /** `slice_type` modulo 5. */
  readonly kind: number
  readonly frameNum: BitSpan & { readonly value: number }
  /** The low bits of the picture order count; undefined when the parameter set has none. */
  readonly orderCount: (BitSpan & { readonly value: number }) | undefined
  /** How the frame changes the marking of reference frames; undefined when the frame is not a reference itself. */
  readonly marking: (BitSpan & { readonly operations: readonly MarkingOperation[] | undefined }) | undefined
  /** Position behind the last field: slice data follows, or with CABAC, alignment bits up to the next byte. */
  readonly end: number
}

/**
 * A `memory_management_control_operation` with its arguments. `removedDistance` is the distance in frame numbers of the
 * frame that operation 1 removes.
 */
export type MarkingOperation = BitSpan & { readonly code: number; readonly removedDistance: number | undefined }

export const sliceKind = { p: 0, b: 1, i: 2 } as const

const maxReferences = 32
const maxOperations = 66
/** Limit for the modifications of a reference list, each of which may move one entry. */
const maxChanges = 33

/** Parses the slice header. @throws AppError 'corrupt' for fields and for bytes that cannot be parsed */
export function readSliceHeader(rbsp: Uint8Array, findPps: (id: number) => ParameterSetPair): SliceHeader {
  const reader = new RbspReader(rbsp, 8)
  const isIdr = nalTypeOf(rbsp[0]!) === nalType.idr
  const isReference = (rbsp[0]! & 0x60) !== 0
  reader.unsigned() // first_mb_in_slice
  const kind = reader.unsigned() % 5
  if (kind > sliceKind.i) throw new AppError('corrupt', 'H.264: switching slices are not supported')
  const { pps, sps } = findPps(reader.unsigned())
  const { slices } = sps
  if (slices.hasColorPlanes) reader.bits(2)
  const frameNum = reader.field(slices.frameNumBits)
  if (isIdr) reader.unsigned() // idr_pic_id
  const orderCount = slices.orderCountBits === undefined ? undefined : reader.field(slices.orderCountBits)
  if (orderCount && pps.hasBottomFieldOrder) reader.unsigned()
  if (pps.hasRedundantPictures) reader.unsigned()
  if (kind === sliceKind.b) reader.bit() // direct_spatial_mv_pred_flag
  if (kind !== sliceKind.i) readReferences(reader, kind, pps, sps)
  const marking = isReference ? readMarking(reader, isIdr) : undefined
  if (pps.usesCabac && kind !== sliceKind.i) reader.unsigned() // cabac_init_idc
  reader.unsigned() // slice_qp_delta
  if (pps.hasDeblocking && reader.unsigned() !== 1) {
    reader.unsigned()
    reader.unsigned()
  }
  return { kind, frameNum, orderCount, marking, end: reader.at }
}

export type ParameterSetPair = { readonly pps: Pps; readonly sps: Sps }

function readReferences(reader: RbspReader, kind: number, pps: Pps, sps: Sps): void {
  const lists = kind === sliceKind.b ? 2 : 1
  const isOwn = reader.bit() === 1
  const counts = pps.defaultReferenceCounts.slice(0, lists).map((count) => (isOwn ? reader.unsigned() + 1 : count))
  if (counts.some((count) => count > maxReferences))
    throw new AppError('corrupt', 'H.264: expected at most 32 defaultReferenceCounts')
  for (let list = 0; list < lists; list++) {
    if (reader.bit() === 0) continue
    for (let i = 0; reader.unsigned() !== 3; i++) {
      if (i === maxChanges) throw new AppError('corrupt', 'H.264: the reference list modification has no end')
      reader.unsigned()
    }
  }
  if (kind === sliceKind.b ? pps.weightedBipredictionMode === 1 : pps.hasWeightedPrediction)
    readWeights(reader, counts, sps)
}

function readWeights(reader: RbspReader, counts: readonly number[], { chromaFormat, slices }: Sps): void {
  const hasChroma = chromaFormat !== 0 && !slices.hasColorPlanes
  reader.unsigned()
  if (hasChroma) reader.unsigned()
  for (const count of counts) {
    for (let i = 0; i < count; i++) {
      if (reader.bit()) for (let n = 0; n < 2; n++) reader.unsigned()
      if (hasChroma && reader.bit()) for (let n = 0; n < 4; n++) reader.unsigned()
    }
  }
}

function readMarking(reader: RbspReader, isIdr: boolean): SliceHeader['marking'] {
  const from = reader.at
  if (isIdr) {
    reader.bits(2)
    return { from, to: reader.at, operations: undefined }
  }
  if (reader.bit() === 0) return { from, to: reader.at, operations: undefined }
  const operations: MarkingOperation[] = []
  for (;;) {
    const start = reader.at
    const code = reader.unsigned()
    if (code === 0) return { from, to: reader.at, operations }
    if (operations.length === maxOperations) throw new AppError('corrupt', 'H.264: the reference marking has no end')
    const distance = code === 1 || code === 3 ? reader.unsigned() + 1 : undefined
    if (code === 2 || code === 3 || code === 4 || code === 6) reader.unsigned()
    operations.push({ from: start, to: reader.at, code, removedDistance: code === 1 ? distance : undefined })
  }
}
