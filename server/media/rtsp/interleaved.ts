// Writes the header of an interleaved packet on an RTSP connection: '$', channel, length (RFC 2326 10.12).

import { AppError } from '../../base/error.ts'

export const interleavedHeaderBytes = 4

/** Writes the four bytes before a packet of `length` bytes. */
export function writeInterleavedHeader(into: Uint8Array, at: number, channel: number, length: number): void {
  if (length > 0xffff)
    throw new AppError('invalid', `expected an interleaved packet of at most 65535 bytes, got ${length}`)
  into[at] = 0x24
  into[at + 1] = channel
  into[at + 2] = length >> 8
  into[at + 3] = length
}

/** Returns the packet with its header. */
export function writeInterleaved(channel: number, packet: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(interleavedHeaderBytes + packet.length)
  writeInterleavedHeader(bytes, 0, channel, packet.length)
  bytes.set(packet, interleavedHeaderBytes)
  return bytes
}
