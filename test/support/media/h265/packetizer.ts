// H.265 access units -> RTP payloads (RFC 7798 4.4) without decoding order numbers: small units are aggregated (AP),
// large ones are fragmented (FU). RTP headers are written elsewhere.

import {
  hevcNalHeaderBytes as headerBytes,
  hevcNalType,
  hevcNalTypeOf,
} from '../../../../server/media/h265/nal-unit.ts'

/**
 * Returns the payloads of one access unit in order; the RTP marker belongs to the last one. `units` are NAL units
 * without start code or length. Consecutive units that are not slices share a packet when they fit.
 */
export function packetizeH265(units: readonly Uint8Array[], maxPayloadBytes = 1400): Uint8Array[] {
  const payloads: Uint8Array[] = []
  let group: Uint8Array[] = []
  const flush = () => {
    if (group.length === 1) payloads.push(group[0]!)
    if (group.length > 1) payloads.push(writeAggregate(group))
    group = []
  }
  for (const unit of units) {
    const isSlice = hevcNalTypeOf(unit[0]!) < hevcNalType.vps
    const groupBytes = group.reduce((sum, member) => sum + 2 + member.length, headerBytes)
    if (isSlice || groupBytes + 2 + unit.length > maxPayloadBytes) flush()
    if (unit.length > maxPayloadBytes) payloads.push(...fragment(unit, maxPayloadBytes))
    else if (isSlice) payloads.push(unit)
    else group.push(unit)
  }
  flush()
  return payloads
}

/** The payload header has the type of the packet and the lowest layer of its members. */
function writeAggregate(units: readonly Uint8Array[]): Uint8Array {
  const payload = new Uint8Array(units.reduce((sum, unit) => sum + 2 + unit.length, headerBytes))
  payload[0] = hevcNalType.aggregate << 1
  payload[1] = units.reduce((lowest, unit) => Math.min(lowest, unit[1]! & 0x07), 7)
  let at = headerBytes
  for (const unit of units) {
    payload[at] = unit.length >> 8
    payload[at + 1] = unit.length
    payload.set(unit, at + 2)
    at += 2 + unit.length
  }
  return payload
}

function fragment(unit: Uint8Array, maxPayloadBytes: number): Uint8Array[] {
  const type = hevcNalTypeOf(unit[0]!)
  const share = maxPayloadBytes - headerBytes - 1
  const payloads: Uint8Array[] = []
  for (let at = headerBytes; at < unit.length; at += share) {
    const end = Math.min(at + share, unit.length)
    const payload = new Uint8Array(headerBytes + 1 + end - at)
    payload[0] = (unit[0]! & 0x81) | (hevcNalType.fragment << 1)
    payload[1] = unit[1]!
    payload[2] = (at === headerBytes ? 0x80 : 0) | (end === unit.length ? 0x40 : 0) | type
    payload.set(unit.subarray(at, end), headerBytes + 1)
    payloads.push(payload)
  }
  return payloads
}
