// How many samples one block of an audio track holds.

import { parseAudioSpecificConfig } from '../aac/audio-specific-config.ts'
import type { AudioFormat } from '../frame.ts'
import { opusPacketSamples } from '../opus/opus-packet.ts'

/** Of a block without a length of its own, and where a stream's configuration can't be read. */
const usualBlockSamples = 1024

/**
 * The samples, at the format's own rate, of a block with these bytes. An AAC block has 1024 (ISO/IEC 14496-3 4.5.1.1), twice as many when
 * the rate is that of spectral band replication; an Opus packet says it itself.
 */
export function createBlockLength({ codec, sampleRate, config }: AudioFormat): (data: Uint8Array) => number {
  if (codec === 'opus') return (data) => opusPacketSamples(data) || usualBlockSamples
  const samples = aacBlockSamples(config, sampleRate)
  return () => samples
}

function aacBlockSamples(config: Uint8Array, sampleRate: number): number {
  try {
    const asc = parseAudioSpecificConfig(config)
    return asc.samplesPerBlock * (asc.sampleRate === sampleRate / 2 ? 2 : 1)
  } catch {
    return usualBlockSamples
  }
}
