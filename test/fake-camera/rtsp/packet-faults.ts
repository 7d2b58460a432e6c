// What a bad network or a bad camera does to the packets of a picture. Pure: framed packets in, framed packets out.

/**
 * `lose` some, `swap` neighbours, `repeat` some, `flip` bits of what they carry, `shorten` what they carry, leave them `empty`, announce
 * a wrong length in the `frame` of the connection, send a `foreign` packet of another source between them.
 */
export const packetFaults = ['lose', 'swap', 'repeat', 'flip', 'shorten', 'empty', 'frame', 'foreign'] as const

export type PacketFault = (typeof packetFaults)[number]

const frameBytes = 4
const headerBytes = 12
/** Of the packets this share is hit. */
const share = 0.3

/** `bytes`: framed packets, one after the other; they are not changed. `random` is uniform in [0, 1). */
export function spoilPackets(kind: PacketFault, bytes: Uint8Array, random: () => number): Uint8Array {
  const packets = splitPackets(bytes)
  const spoilt: Uint8Array[] = []
  while (packets.length > 0) {
    const packet = packets.shift()!
    spoilt.push(...(random() < share ? hit(kind, packet.slice(), packets, random) : [packet]))
  }
  return Buffer.concat(spoilt)
}

/** What becomes of one packet; `packet` may be changed, `next` are those behind it. */
function hit(kind: PacketFault, packet: Uint8Array, next: Uint8Array[], random: () => number): Uint8Array[] {
  const payloadStart = frameBytes + headerBytes
  const at = payloadStart + Math.floor(random() * (packet.length - payloadStart))
  switch (kind) {
    case 'lose':
      return []
    case 'swap':
      return [...next.splice(0, 1), packet]
    case 'repeat':
      return [packet, packet]
    case 'flip':
      packet[at]! ^= 1 << Math.floor(random() * 8)
      return [packet]
    case 'shorten':
      return [frame(packet.subarray(0, at))]
    case 'empty':
      return [frame(packet.subarray(0, payloadStart))]
    case 'frame':
      packet[3]! ^= 1 << Math.floor(random() * 5)
      return [packet]
    case 'foreign': {
      const foreign = packet.slice()
      foreign.set([1, 2, 3, 4], frameBytes + 8)
      return [packet, foreign]
    }
  }
}

function splitPackets(bytes: Uint8Array): Uint8Array[] {
  const packets: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + frameBytes + ((bytes[at + 2]! << 8) | bytes[at + 3]!)
    packets.push(bytes.subarray(at, end))
    at = end
  }
  return packets
}

/** The same packet with the length that it has. */
function frame(packet: Uint8Array): Uint8Array {
  const length = packet.length - frameBytes
  packet[2] = length >> 8
  packet[3] = length
  return packet
}
