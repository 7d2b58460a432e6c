// Silent blocks for an audio track that any decoder of the track can decode: AAC with all spectral coefficients zero
// (ISO/IEC 14496-3 4.4.2), and Opus frames of CELT silence (RFC 6716 4.3).

import { parseAudioSpecificConfig } from '../aac/audio-specific-config.ts'
import type { AudioFormat } from '../frame.ts'
import { createBlockLength } from './audio-block.ts'

/** `samples` is at the sample rate of the format. `data` is shared and must not be modified. */
export type SilentBlock = { readonly data: Uint8Array; readonly samples: number }

/** Longest block first; AAC has one length only. */
export type Silence = readonly [SilentBlock, ...SilentBlock[]]

/**
 * Returns undefined for AAC types with another block syntax (low delay, scalable, error resilient), which browsers do
 * not play.
 */
export function createSilence(format: AudioFormat): Silence | undefined {
  if (format.codec === 'opus') return opusSilence()
  const data = writeSilentAac(format.config)
  return data && [{ data, samples: createBlockLength(format)(data) }]
}

/** Fullband CELT with one channel, which decoders copy to all channels: 20, 10, 5 and 2.5 ms. */
function opusSilence(): Silence {
  const frame = (config: number, ms: number): SilentBlock => ({
    data: Uint8Array.of(config << 3, 0xff, 0xfe),
    samples: ms * 48,
  })
  return [frame(31, 20), frame(30, 10), frame(29, 5), frame(28, 2.5)]
}

/** Object types that use raw_data_block: Main, LC, SSR and LTP. */
const plainTypes: ReadonlySet<number> = new Set([1, 2, 3, 4])

const singleChannel = 0
const channelPair = 1
const lowFrequencyEffects = 3
const endElement = 7

/** Elements by number of channels (ISO/IEC 14496-3 table 1.19). */
const layouts: ReadonlyMap<number, readonly number[]> = new Map([
  [1, [singleChannel]],
  [2, [channelPair]],
  [3, [singleChannel, channelPair]],
  [4, [singleChannel, channelPair, singleChannel]],
  [5, [singleChannel, channelPair, channelPair]],
  [6, [singleChannel, channelPair, channelPair, lowFrequencyEffects]],
  [8, [singleChannel, channelPair, channelPair, channelPair, lowFrequencyEffects]],
])

/** Writes a raw_data_block. Without SBR data, decoders only upsample the core, which is silence. */
function writeSilentAac(config: Uint8Array): Uint8Array | undefined {
  const { objectType, channels } = parseAudioSpecificConfig(config)
  const layout = layouts.get(channels)
  if (!plainTypes.has(objectType) || !layout) return undefined
  const bits = new BitWriter()
  const tags = new Map<number, number>()
  for (const element of layout) {
    const tag = tags.get(element) ?? 0
    tags.set(element, tag + 1)
    bits.write(element, 3)
    bits.write(tag, 4)
    if (element === channelPair) bits.write(0, 1) // common_window
    for (let channel = 0; channel < (element === channelPair ? 2 : 1); channel++) writeSilentChannel(bits)
  }
  bits.write(endElement, 3)
  return bits.bytes()
}

/** individual_channel_stream without scale factor bands. */
function writeSilentChannel(bits: BitWriter): void {
  bits.write(0x64, 8) // global_gain, applies to no band
  bits.write(0, 1 + 2 + 1) // reserved, one long window, sine
  bits.write(0, 6 + 1) // max_sfb, predictor_data_present
  bits.write(0, 1 + 1 + 1) // pulse, temporal noise shaping, gain control
}

class BitWriter {
  readonly #bytes: number[] = []
  #count = 0

  write(value: number, bits: number): void {
    for (let bit = bits - 1; bit >= 0; bit--, this.#count++) {
      if (this.#count % 8 === 0) this.#bytes.push(0)
      this.#bytes[this.#count >> 3]! |= ((value >> bit) & 1) << (7 - (this.#count & 7))
    }
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes)
  }
}
