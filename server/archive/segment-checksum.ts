// Checksums of recorded files. A fragment's is the CRC-32 in its `uuid` box. A file's is the CRC-32 of the checksums of
// its fragments, and is stored in the index. See docs/design/recording.md.

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** The checksum of a fragment's bytes, given in parts. `before`: the checksum of the earlier parts. */
export function fragmentChecksum(parts: Iterable<Uint8Array>, before = 0): number {
  let value = before
  for (const part of parts) value = crc32(part, value)
  return value
}

/** The checksum of a file without fragments. */
export const emptyChecksum = 0

/** The checksum of a file after adding one fragment. */
export function addToChecksum(file: number, fragment: number): number {
  const bytes = Uint8Array.of(fragment >>> 24, fragment >>> 16, fragment >>> 8, fragment)
  return crc32(bytes, file)
}

/** Equal for equal initialization sections. */
export function hashInit(init: Uint8Array): string {
  return createHash('sha256').update(init).digest('hex').slice(0, 32)
}
