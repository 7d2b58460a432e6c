// Parses the picture parameter set (ISO/IEC 14496-10 7.3.2.2), as far as it is needed to read a slice header.

import { AppError } from '../../base/error.ts'
import { BitReader } from '../nal/bit-reader.ts'
import { nalType, nalTypeOf } from './nal-unit.ts'

export type Pps = {
  readonly id: number
  readonly setId: number
  /** Slice data is CABAC coded and begins at a byte boundary. */
  readonly usesCabac: boolean
  readonly hasBottomFieldOrder: boolean
  readonly hasSliceGroups: boolean
  /** Default number of reference frames in list 0 and list 1, for slices that do not state their own. */
  readonly defaultReferenceCounts: readonly [number, number]
  readonly hasWeightedPrediction: boolean
  /** Weights of B slices: 0 none, 1 explicit, 2 implicit. */
  readonly weightedBipredictionMode: number
  readonly hasDeblocking: boolean
  readonly hasRedundantPictures: boolean
}

/**
 * `nal` begins with the NAL header. For a set with slice groups, only `id`, `setId` and `hasSliceGroups` are valid.
 * @throws AppError 'corrupt'
 */
export function parsePps(nal: Uint8Array): Pps {
  if (nal.length < 2 || nalTypeOf(nal[0]!) !== nalType.pps)
    throw new AppError('corrupt', 'H.264: expected a picture parameter set')
  const reader = new BitReader(nal)
  reader.bits(8)
  const id = reader.unsigned()
  const setId = reader.unsigned()
  const usesCabac = reader.bit() === 1
  const hasBottomFieldOrder = reader.bit() === 1
  const hasSliceGroups = reader.unsigned() > 0
  const defaultReferenceCounts = [reader.unsigned() + 1, reader.unsigned() + 1] as const
  const hasWeightedPrediction = reader.bit() === 1
  const weightedBipredictionMode = reader.bits(2)
  for (let i = 0; i < 3; i++) reader.signed() // quantization
  const hasDeblocking = reader.bit() === 1
  reader.bit() // constrained_intra_pred_flag
  const hasRedundantPictures = reader.bit() === 1
  return {
    id,
    setId,
    usesCabac,
    hasBottomFieldOrder,
    hasSliceGroups,
    defaultReferenceCounts,
    hasWeightedPrediction,
    weightedBipredictionMode,
    hasDeblocking,
    hasRedundantPictures,
  }
}
