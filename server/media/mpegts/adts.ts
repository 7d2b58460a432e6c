// Writes the ADTS header that makes an AAC block self-contained. ISO/IEC 14496-3 1.A.2.2.

import { AppError } from '../../base/error.ts'

export const adtsHeaderBytes = 7
const maxFrameBytes = 0x1fff

/**
 * Writes the header before a raw block of `blockBytes`, from an AudioSpecificConfig. Throws 'corrupt' for a config that
 * is too short, and 'invalid' for values that ADTS cannot express: a sample rate outside the table, more than 7
 * channels, a block over 8 KiB.
 */
export function writeAdtsHeader(config: Uint8Array, blockBytes: number): Uint8Array {
  if (config.length < 2) {
    throw new AppError('corrupt', `expected an AudioSpecificConfig of 2 bytes or more, got ${config.length}`)
  }
  const objectType = config[0]! >>> 3
  const rateIndex = ((config[0]! & 0x07) << 1) | (config[1]! >>> 7)
  const channels = (config[1]! >>> 3) & 0x0f
  const length = adtsHeaderBytes + blockBytes
  if (rateIndex > 12 || channels > 7 || objectType === 0 || objectType === 31 || length > maxFrameBytes) {
    throw new AppError(
      'invalid',
      `ADTS cannot express object type ${objectType}, rate ${rateIndex}, channels ${channels}, ${blockBytes} bytes`,
    )
  }
  // HE-AAC (types 5 and 29) is sent as its AAC-LC core; decoders find the extension in the blocks.
  const profile = objectType > 4 ? 1 : objectType - 1
  return Uint8Array.of(
    0xff,
    0xf1, // MPEG-4, no checksum
    (profile << 6) | (rateIndex << 2) | (channels >>> 2),
    ((channels & 3) << 6) | (length >>> 11),
    (length >>> 3) & 0xff,
    ((length & 7) << 5) | 0x1f,
    0xfc,
  )
}
