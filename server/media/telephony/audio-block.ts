// The number of samples in one block of an audio track.

import { parseAudioSpecificConfig } from '../aac/audio-specific-config.ts'
import type { AudioFormat } from '../frame.ts'
import { opusPacketSamples } from '../opus/opus-packet.ts'

/** Used for a block without a duration of its own, and for a configuration that cannot be parsed. */
const defaultBlockSamples = 1024

/**
 * Returns a function that gives the number of samples of a block, at the sample rate of the format. An AAC block has
 * 1024 samples (ISO/IEC 14496-3 4.5.1.1), or twice as many when the rate is that of spectral band replication. The
 * duration of an Opus packet is stated in the packet.
 */
export function createBlockLength({ codec, sampleRate, config }: AudioFormat): (data: Uint8Array) => number {
  if (codec === 'opus') return (data) => opusPacketSamples(data) || defaultBlockSamples
  const samples = aacBlockSamples(config, sampleRate)
  return () => samples
}

function aacBlockSamples(config: Uint8Array, sampleRate: number): number {
  try {
    const asc = parseAudioSpecificConfig(config)
    return asc.samplesPerBlock * (asc.sampleRate === sampleRate / 2 ? 2 : 1)
  } catch {
    return defaultBlockSamples
  }
}
