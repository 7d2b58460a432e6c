// Parses the ADTS header before each AAC block in transport streams (ISO/IEC 14496-3 1.A.2.2). For writing, see
// mpegts/adts.ts.

import { writeAudioSpecificConfig } from './audio-specific-config.ts'

export type AdtsHeader = {
  readonly headerBytes: number
  /** Length of the block including the header. */
  readonly blockBytes: number
  /** The AudioSpecificConfig that describes the block. */
  readonly config: Uint8Array
}

const sampleRates = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350]

/**
 * Returns undefined when the bytes are not an ADTS header or use an unsupported feature: several blocks behind one
 * header, or a channel layout that is described inside the blocks.
 */
export function findAdtsHeader(bytes: Uint8Array): AdtsHeader | undefined {
  if (bytes.length < 7 || bytes[0] !== 0xff || (bytes[1]! & 0xf6) !== 0xf0) return undefined
  const headerBytes = (bytes[1]! & 1) === 1 ? 7 : 9
  const objectType = (bytes[2]! >> 6) + 1
  const sampleRate = sampleRates[(bytes[2]! >> 2) & 0x0f]
  const layout = ((bytes[2]! & 1) << 2) | (bytes[3]! >> 6)
  const blockBytes = ((bytes[3]! & 3) << 11) | (bytes[4]! << 3) | (bytes[5]! >> 5)
  const isSingle = (bytes[6]! & 3) === 0
  if (sampleRate === undefined || layout === 0 || !isSingle || blockBytes <= headerBytes) return undefined
  const channels = layout === 7 ? 8 : layout
  return { headerBytes, blockBytes, config: writeAudioSpecificConfig({ objectType, sampleRate, channels }) }
}
