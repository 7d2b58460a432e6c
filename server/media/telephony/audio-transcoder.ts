// Telephone audio on its way to AAC: what whoever encodes it offers, and in which form it is handed over. Encoding itself is done in
// a process of its own (server/decoder/audio).

import { aacCodecString, parseAudioSpecificConfig, writeAudioSpecificConfig } from '../aac/audio-specific-config.ts'
import type { AudioFormat } from '../frame.ts'
import type { TelephoneCoding } from './telephone-coding.ts'

export type AudioSource = { readonly coding: TelephoneCoding; readonly sampleRate: 8000 | 16_000 }

export type AudioTranscoder = {
  /** False while the process is down: what is pushed is dropped. */
  readonly isAvailable: boolean
  /** `onBlock`: an AAC block and the tag of the chunk whose audio it holds, some chunks late; not every chunk has one. */
  open<Tag>(source: AudioSource, onBlock: (data: Uint8Array, tag: Tag) => void): AudioSink<Tag>
}

export type AudioSink<Tag> = {
  /** Takes a chunk of `chunkSamples`, at once; it is dropped when too much waits. */
  push(chunk: Uint8Array, tag: Tag): void
  /** No block comes any more. */
  close(): void
}

/** Of the AAC. Hardware decoders and Safari are least sure of 8 kHz, and a block of it would be 128 ms of delay. */
export const transcodedSampleRate = 16_000

/** Samples of one AAC block. */
const blockSamples = 1024

/** Samples of the source that become one block. */
export function chunkSamples({ sampleRate }: AudioSource): number {
  return (blockSamples * sampleRate) / transcodedSampleRate
}

/** AAC-LC, one channel. */
export function createTranscodedFormat(): AudioFormat {
  const config = writeAudioSpecificConfig({ sampleRate: transcodedSampleRate, channels: 1 })
  const codecString = aacCodecString(parseAudioSpecificConfig(config))
  return { codec: 'aac', sampleRate: transcodedSampleRate, channels: 1, config, codecString }
}
