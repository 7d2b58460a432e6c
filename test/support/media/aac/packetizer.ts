// AAC blocks -> RTP payloads, mode AAC-hbr with 13-bit sizes and 3-bit indexes (RFC 3640 3.3.6).

const maxBlockBytes = 0x1fff

/** The `a=fmtp` parameters that describe these payloads, besides `config`. */
export const aacHbrParameters: readonly (readonly [string, string])[] = [
  ['streamtype', '5'],
  ['profile-level-id', '1'],
  ['mode', 'AAC-hbr'],
  ['sizelength', '13'],
  ['indexlength', '3'],
  ['indexdeltalength', '3'],
]

/** Writes one packet of whole blocks. Its RTP timestamp is that of the first block, and its marker bit is set. */
export function packetizeAac(blocks: readonly Uint8Array[]): Uint8Array {
  const payload = new Uint8Array(blocks.reduce((sum, block) => sum + 2 + block.length, 2))
  writeHeaderLength(payload, blocks.length)
  let at = 2 + blocks.length * 2
  for (const [i, block] of blocks.entries()) {
    writeBlockHeader(payload, 2 + i * 2, block.length)
    payload.set(block, at)
    at += block.length
  }
  return payload
}

/**
 * Splits one block over several packets (RFC 3640 3.2.3). All packets have the same timestamp; the last one has the
 * marker bit set.
 */
export function fragmentAac(block: Uint8Array, maxPayloadBytes = 1400): Uint8Array[] {
  const share = maxPayloadBytes - 4
  const payloads: Uint8Array[] = []
  for (let at = 0; at < block.length; at += share) {
    const part = block.subarray(at, at + share)
    const payload = new Uint8Array(4 + part.length)
    writeHeaderLength(payload, 1)
    writeBlockHeader(payload, 2, block.length)
    payload.set(part, 4)
    payloads.push(payload)
  }
  return payloads
}

function writeHeaderLength(payload: Uint8Array, blocks: number): void {
  payload[0] = (blocks * 16) >> 8
  payload[1] = blocks * 16
}

/** Index and index delta are 0 because the blocks are consecutive. */
function writeBlockHeader(payload: Uint8Array, at: number, bytes: number): void {
  const size = Math.min(bytes, maxBlockBytes) << 3
  payload[at] = size >> 8
  payload[at + 1] = size
}
