// The header of an H.264 slice (ISO/IEC 14496-10 7.3.3): what ties a picture to those before it, and where in the bits that stands. Of
// frames only, without slice groups: fields and other rarities are refused.

import { AppError } from '../../base/error.ts'
import { nalType, nalTypeOf } from './nal-unit.ts'
import type { Pps } from './pps.ts'
import { RbspReader } from './rbsp.ts'
import type { Sps } from './sps.ts'

/** Bits of the unescaped NAL unit, its header byte included. */
export type BitSpan = { readonly from: number; readonly to: number }

export type SliceHeader = {
  /** As `slice_type` modulo 5. */
  readonly kind: number
  readonly frameNum: BitSpan & { readonly value: number }
  /** The low bits of the order count; undefined where the set has none. */
  readonly orderCount: (BitSpan & { readonly value: number }) | undefined
  /** What the picture does to those kept as references; undefined when it is no reference itself. */
  readonly marking: (BitSpan & { readonly operations: readonly MarkingOperation[] | undefined }) | undefined
  /** Behind the last field: slice data, or, with CABAC, ones up to the next whole byte. */
  readonly end: number
}

/** `memory_management_control_operation` with its arguments. `forgets`: the distance, in frame numbers, of the picture that 1 removes. */
export type MarkingOperation = BitSpan & { readonly code: number; readonly forgets: number | undefined }

export const sliceKind = { p: 0, b: 1, i: 2 } as const

const maxReferences = 32
const maxOperations = 66
/** Of a list of references: each may be moved once. */
const maxChanges = 33

/** What a slice of these sets is. @throws AppError 'corrupt' for fields, and what can't be read */
export function readSliceHeader(rbsp: Uint8Array, findPps: (id: number) => SetPair): SliceHeader {
  const reader = new RbspReader(rbsp, 8)
  const isIdr = nalTypeOf(rbsp[0]!) === nalType.idr
  const isReference = (rbsp[0]! & 0x60) !== 0
  reader.unsigned() // first_mb_in_slice
  const kind = reader.unsigned() % 5
  if (kind > sliceKind.i) throw new AppError('corrupt', 'H.264: expected no switching slice')
  const { pps, sps } = findPps(reader.unsigned())
  const { slices } = sps
  if (slices.hasColourPlanes) reader.bits(2)
  const frameNum = reader.field(slices.frameNumBits)
  if (isIdr) reader.unsigned() // idr_pic_id
  const orderCount = slices.orderCountBits === undefined ? undefined : reader.field(slices.orderCountBits)
  if (orderCount && pps.hasBottomOrder) reader.unsigned()
  if (pps.hasRedundantPictures) reader.unsigned()
  if (kind === sliceKind.b) reader.bit() // direct_spatial_mv_pred_flag
  if (kind !== sliceKind.i) readReferences(reader, kind, pps, sps)
  const marking = isReference ? readMarking(reader, isIdr) : undefined
  if (pps.isArithmetic && kind !== sliceKind.i) reader.unsigned() // cabac_init_idc
  reader.unsigned() // slice_qp_delta
  if (pps.hasDeblocking && reader.unsigned() !== 1) {
    reader.unsigned()
    reader.unsigned()
  }
  return { kind, frameNum, orderCount, marking, end: reader.at }
}

export type SetPair = { readonly pps: Pps; readonly sps: Sps }

function readReferences(reader: RbspReader, kind: number, pps: Pps, sps: Sps): void {
  const lists = kind === sliceKind.b ? 2 : 1
  const isOwn = reader.bit() === 1
  const counts = pps.references.slice(0, lists).map((count) => (isOwn ? reader.unsigned() + 1 : count))
  if (counts.some((count) => count > maxReferences))
    throw new AppError('corrupt', 'H.264: expected at most 32 references')
  for (let list = 0; list < lists; list++) {
    if (reader.bit() === 0) continue
    for (let i = 0; reader.unsigned() !== 3; i++) {
      if (i === maxChanges) throw new AppError('corrupt', 'H.264: expected a list of references that ends')
      reader.unsigned()
    }
  }
  if (kind === sliceKind.b ? pps.weighsBipredicted === 1 : pps.weighsPredicted) readWeights(reader, counts, sps)
}

function readWeights(reader: RbspReader, counts: readonly number[], { chromaFormat, slices }: Sps): void {
  const hasChroma = chromaFormat !== 0 && !slices.hasColourPlanes
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
    if (operations.length === maxOperations) throw new AppError('corrupt', 'H.264: expected marking that ends')
    const distance = code === 1 || code === 3 ? reader.unsigned() + 1 : undefined
    if (code === 2 || code === 3 || code === 4 || code === 6) reader.unsigned()
    operations.push({ from: start, to: reader.at, code, forgets: code === 1 ? distance : undefined })
  }
}
