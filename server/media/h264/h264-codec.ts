// The H.264 description for the NAL depacketizer: RFC 6184, packetization modes 0 and 1.

import { type NalCodec, nalRole } from '../nal/nal-codec.ts'
import { nalType } from './nal-unit.ts'
import { H264ParameterSets } from './parameter-sets.ts'

/** Decoders ignore the types that the standard leaves open: 0, 30 and 31 (ISO/IEC 14496-10 7.4.1). */
function roleOf(type: number): number {
  // Other types beyond are those of packets (RFC 6184 5.2), of which STAP-A and FU-A alone are supported.
  if (type === 0 || type > nalType.fuB) return nalRole.foreign
  if (type >= nalType.stapA) return nalRole.bad
  if (type === nalType.idr) return nalRole.keySlice
  if (type < nalType.idr) return nalRole.slice
  if (type === nalType.sei) return nalRole.message
  if (type === nalType.sps || type === nalType.pps) return nalRole.parameterSet
  return type >= nalType.accessUnitDelimiter && type <= nalType.filler ? nalRole.dropped : nalRole.kept
}

export const h264Codec: NalCodec = {
  headerBytes: 1,
  typeShift: 0,
  typeMask: 0x1f,
  aggregateType: nalType.stapA,
  fragmentType: nalType.fuA,
  roles: Uint8Array.from({ length: 32 }, (_, type) => roleOf(type)),
  createSets: () => new H264ParameterSets(),
}
