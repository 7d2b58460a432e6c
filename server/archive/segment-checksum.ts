// Checksums of recorded files: of a fragment the CRC-32 that its `uuid` box holds, of a file the CRC-32 of those of its fragments,
// which the index holds. See docs/design/recording.md.

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** Of a fragment's bytes, given in parts; `before`: of what was given earlier. */
export function fragmentChecksum(parts: Iterable<Uint8Array>, before = 0): number {
  let value = before
  for (const part of parts) value = crc32(part, value)
  return value
}

/** Of a file that has no fragment yet. */
export const emptyChecksum = 0

/** The file's with one more fragment. */
export function addToChecksum(file: number, fragment: number): number {
  const bytes = Uint8Array.of(fragment >>> 24, fragment >>> 16, fragment >>> 8, fragment)
  return crc32(bytes, file)
}

/** Equal for initialization sections that are. */
export function hashInit(init: Uint8Array): string {
  return createHash('sha256').update(init).digest('hex').slice(0, 32)
}
