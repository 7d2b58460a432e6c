// The picture parameter set (ISO/IEC 14496-10 7.3.2.2): what must be known of it to read a slice header.

import { AppError } from '../../base/error.ts'
import { BitReader } from '../nal/bit-reader.ts'
import { nalType, nalTypeOf } from './nal-unit.ts'

export type Pps = {
  readonly id: number
  readonly setId: number
  /** Slice data is arithmetic code (CABAC), which begins at a whole byte. */
  readonly isArithmetic: boolean
  readonly hasBottomOrder: boolean
  readonly hasSliceGroups: boolean
  /** How many pictures slices refer to that do not say: list 0 and list 1. */
  readonly references: readonly [number, number]
  readonly weighsPredicted: boolean
  /** Weights of B slices: 0 none, 1 told, 2 implied. */
  readonly weighsBipredicted: number
  readonly hasDeblocking: boolean
  readonly hasRedundantPictures: boolean
}

/** `nal` begins with the NAL header. Of a set with slice groups only `id`, `setId` and that are right. @throws AppError 'corrupt' */
export function parsePps(nal: Uint8Array): Pps {
  if (nal.length < 2 || nalTypeOf(nal[0]!) !== nalType.pps)
    throw new AppError('corrupt', 'H.264: expected a picture parameter set')
  const reader = new BitReader(nal)
  reader.bits(8)
  const id = reader.unsigned()
  const setId = reader.unsigned()
  const isArithmetic = reader.bit() === 1
  const hasBottomOrder = reader.bit() === 1
  const hasSliceGroups = reader.unsigned() > 0
  const references = [reader.unsigned() + 1, reader.unsigned() + 1] as const
  const weighsPredicted = reader.bit() === 1
  const weighsBipredicted = reader.bits(2)
  for (let i = 0; i < 3; i++) reader.signed() // quantization
  const hasDeblocking = reader.bit() === 1
  reader.bit() // constrained_intra_pred_flag
  const hasRedundantPictures = reader.bit() === 1
  return {
    id,
    setId,
    isArithmetic,
    hasBottomOrder,
    hasSliceGroups,
    references,
    weighsPredicted,
    weighsBipredicted,
    hasDeblocking,
    hasRedundantPictures,
  }
}
