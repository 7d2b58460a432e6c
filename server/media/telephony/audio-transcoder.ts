// The interface for transcoding telephone audio to AAC. Encoding runs in a separate process (server/decoder/audio).

import { aacCodecString, parseAudioSpecificConfig, writeAudioSpecificConfig } from '../aac/audio-specific-config.ts'
import type { AudioFormat } from '../frame.ts'
import type { TelephoneCoding } from './telephone-coding.ts'

export type AudioSource = { readonly coding: TelephoneCoding; readonly sampleRate: 8000 | 16_000 }

export type AudioTranscoder = {
  /** False while the process is down; pushed chunks are then dropped. */
  readonly isAvailable: boolean
  /**
   * `onBlock` is called with an AAC block and the tag of the chunk that it contains, some chunks late. Some chunks have
   * no block.
   */
  open<Tag>(source: AudioSource, onBlock: (data: Uint8Array, tag: Tag) => void): AudioSink<Tag>
}

export type AudioSink<Tag> = {
  /** Takes a chunk of `chunkSamples` without waiting. It is dropped when too many chunks are queued. */
  push(chunk: Uint8Array, tag: Tag): void
  /** Closes the sink. No further block is delivered. */
  close(): void
}

/**
 * Sample rate of the AAC. Hardware decoders and Safari are least reliable with 8 kHz, where one block would also add
 * 128 ms of delay.
 */
export const transcodedSampleRate = 16_000

/** Samples of one AAC block. */
const blockSamples = 1024

/** Number of source samples that become one block. */
export function chunkSamples({ sampleRate }: AudioSource): number {
  return (blockSamples * sampleRate) / transcodedSampleRate
}

/** AAC-LC with one channel. */
export function createTranscodedFormat(): AudioFormat {
  const config = writeAudioSpecificConfig({ sampleRate: transcodedSampleRate, channels: 1 })
  const codecString = aacCodecString(parseAudioSpecificConfig(config))
  return { codec: 'aac', sampleRate: transcodedSampleRate, channels: 1, config, codecString }
}
