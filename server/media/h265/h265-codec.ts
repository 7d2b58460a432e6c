// The H.265 description for the NAL depacketizer: RFC 7798 without decoding order numbers (sprop-max-don-diff 0).

import { type NalCodec, nalRole } from '../nal/nal-codec.ts'
import { hevcNalType as nalType } from './nal-unit.ts'
import { H265ParameterSets } from './parameter-sets.ts'

function roleOf(type: number): number {
  if (type === nalType.raslN || type === nalType.raslR) return nalRole.leadingSlice
  if (type <= nalType.raslR) return nalRole.slice
  if (type >= nalType.firstIrap && type < nalType.idrWithLeading) return nalRole.brokenKeySlice
  if (type >= nalType.firstIrap && type <= nalType.lastIrap) return nalRole.keySlice
  if (type >= nalType.vps && type <= nalType.pps) return nalRole.parameterSet
  if (type === nalType.prefixSei) return nalRole.message
  if (type === nalType.suffixSei) return nalRole.kept
  // Type 50 is that of a packet that is not supported (RFC 7798 4.4.4).
  if (type >= nalType.aggregate) return type > nalType.paci ? nalRole.foreign : nalRole.bad
  // Delimiters, end markers, filler and reserved types. Decoders ignore them too.
  return nalRole.dropped
}

export const h265Codec: NalCodec = {
  headerBytes: 2,
  typeShift: 1,
  typeMask: 0x3f,
  aggregateType: nalType.aggregate,
  fragmentType: nalType.fragment,
  roles: Uint8Array.from({ length: 64 }, (_, type) => roleOf(type)),
  createSets: () => new H265ParameterSets(),
}
