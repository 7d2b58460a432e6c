// H.264 access units -> RTP payloads, packetization mode 1 (RFC 6184): small parameter sets are aggregated (STAP-A),
// large NAL units are fragmented (FU-A). RTP headers are written elsewhere.

import { nalType } from '../../../../server/media/h264/nal-unit.ts'

const fuHeaderBytes = 2

/**
 * Returns the payloads of one access unit in order; the RTP marker belongs to the last one. `units` are NAL units
 * without start code or length. Consecutive units that are not slices share a packet when they fit.
 */
export function packetizeH264(units: readonly Uint8Array[], maxPayloadBytes = 1400): Uint8Array[] {
  const payloads: Uint8Array[] = []
  let group: Uint8Array[] = []
  const flush = () => {
    if (group.length === 1) payloads.push(group[0]!)
    if (group.length > 1) payloads.push(writeStapA(group))
    group = []
  }
  for (const unit of units) {
    const type = unit[0]! & 0x1f
    const isSlice = type >= nalType.slice && type <= nalType.idr
    const groupBytes = group.reduce((sum, member) => sum + 2 + member.length, 1)
    if (isSlice || groupBytes + 2 + unit.length > maxPayloadBytes) flush()
    if (unit.length > maxPayloadBytes) payloads.push(...fragment(unit, maxPayloadBytes))
    else if (isSlice) payloads.push(unit)
    else group.push(unit)
  }
  flush()
  return payloads
}

function writeStapA(units: readonly Uint8Array[]): Uint8Array {
  const payload = new Uint8Array(units.reduce((sum, unit) => sum + 2 + unit.length, 1))
  // The highest nal_ref_idc of the members (RFC 6184 5.7).
  payload[0] = units.reduce((highest, unit) => Math.max(highest, unit[0]! & 0x60), 0) | nalType.stapA
  let at = 1
  for (const unit of units) {
    payload[at] = unit.length >> 8
    payload[at + 1] = unit.length
    payload.set(unit, at + 2)
    at += 2 + unit.length
  }
  return payload
}

function fragment(unit: Uint8Array, maxPayloadBytes: number): Uint8Array[] {
  const header = unit[0]!
  const share = maxPayloadBytes - fuHeaderBytes
  const payloads: Uint8Array[] = []
  for (let at = 1; at < unit.length; at += share) {
    const end = Math.min(at + share, unit.length)
    const payload = new Uint8Array(fuHeaderBytes + end - at)
    payload[0] = (header & 0xe0) | nalType.fuA
    payload[1] = (at === 1 ? 0x80 : 0) | (end === unit.length ? 0x40 : 0) | (header & 0x1f)
    payload.set(unit.subarray(at, end), fuHeaderBytes)
    payloads.push(payload)
  }
  return payloads
}
