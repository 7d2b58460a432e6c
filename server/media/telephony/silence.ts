// Blocks of silence for an audio track, decoded by any decoder of the track: AAC with every spectral coefficient zero (ISO/IEC 14496-3
// 4.4.2), Opus frames of CELT silence (RFC 6716 4.3).

import { parseAudioSpecificConfig } from '../aac/audio-specific-config.ts'
import type { AudioFormat } from '../frame.ts'
import { createBlockLength } from './audio-block.ts'

/** `samples` at the format's own rate. `data` is shared: not to be written to. */
export type SilentBlock = { readonly data: Uint8Array; readonly samples: number }

/** The longest first; those of AAC have one length. */
export type Silence = readonly [SilentBlock, ...SilentBlock[]]

/** Undefined for codings of AAC whose silence is not known here (low delay, scalable, error resilient), which browsers do not play. */
export function createSilence(format: AudioFormat): Silence | undefined {
  if (format.codec === 'opus') return opusSilence()
  const data = writeSilentAac(format.config)
  return data && [{ data, samples: createBlockLength(format)(data) }]
}

/** Full band CELT, one channel, which decoders give to every channel: 20, 10, 5 and 2.5 ms. */
function opusSilence(): Silence {
  const frame = (config: number, ms: number): SilentBlock => ({
    data: Uint8Array.of(config << 3, 0xff, 0xfe),
    samples: ms * 48,
  })
  return [frame(31, 20), frame(30, 10), frame(29, 5), frame(28, 2.5)]
}

/** Object types with the syntax of raw_data_block: Main, LC, SSR and LTP. */
const plainTypes: ReadonlySet<number> = new Set([1, 2, 3, 4])

const single = 0
const pair = 1
const lowFrequency = 3
const end = 7

/** Elements by number of channels, ISO/IEC 14496-3 table 1.19. */
const layouts: ReadonlyMap<number, readonly number[]> = new Map([
  [1, [single]],
  [2, [pair]],
  [3, [single, pair]],
  [4, [single, pair, single]],
  [5, [single, pair, pair]],
  [6, [single, pair, pair, lowFrequency]],
  [8, [single, pair, pair, pair, lowFrequency]],
])

/** A raw_data_block. Without data for spectral band replication decoders only raise the rate of what they have: silence. */
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
    if (element === pair) bits.write(0, 1) // common_window
    for (let channel = 0; channel < (element === pair ? 2 : 1); channel++) writeSilentChannel(bits)
  }
  bits.write(end, 3)
  return bits.bytes()
}

/** individual_channel_stream without any scale factor band. */
function writeSilentChannel(bits: BitWriter): void {
  bits.write(0x64, 8) // global_gain, of no band
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
