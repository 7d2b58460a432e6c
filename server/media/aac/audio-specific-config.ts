// AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1): what an AAC decoder needs to know before the first block.

import { AppError } from '../../base/error.ts'

export type AudioSpecificConfig = {
  /** 2 is AAC-LC. For HE-AAC, this is the type of the core. */
  readonly objectType: number
  /** Sample rate of the core in Hz. One block holds `samplesPerBlock` samples at this rate. */
  readonly sampleRate: number
  readonly channels: number
  readonly samplesPerBlock: 1024 | 960
  /** Set when spectral band replication is signaled: 5 (SBR) or 29 (SBR with parametric stereo). */
  readonly extensionType: number | undefined
}

const sampleRates = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350]
const channelCounts = [0, 1, 2, 3, 4, 5, 6, 8]
const escapedRate = 15
const escapedType = 31

/** @throws AppError 'corrupt' */
export function parseAudioSpecificConfig(config: Uint8Array): AudioSpecificConfig {
  let at = 0
  const bits = (count: number) => {
    if (at + count > config.length * 8) throw new AppError('corrupt', 'AAC: the configuration is too short')
    let value = 0
    for (let i = 0; i < count; i++, at++) value = value * 2 + ((config[at >> 3]! >> (7 - (at & 7))) & 1)
    return value
  }
  const readType = () => {
    const type = bits(5)
    return type === escapedType ? 32 + bits(6) : type
  }
  const readRate = () => {
    const index = bits(4)
    const rate = index === escapedRate ? bits(24) : sampleRates[index]
    if (!rate) throw new AppError('corrupt', `AAC: expected a known sample rate, found index ${index}`)
    return rate
  }
  let objectType = readType()
  const sampleRate = readRate()
  const channels = channelCounts[bits(4)]
  if (!channels) throw new AppError('corrupt', 'AAC: expected a known channel layout')
  let extensionType: number | undefined
  if (objectType === 5 || objectType === 29) {
    extensionType = objectType
    readRate()
    objectType = readType()
  }
  const isShort = objectType <= 4 && at < config.length * 8 && bits(1) === 1
  return { objectType, sampleRate, channels, samplesPerBlock: isShort ? 960 : 1024, extensionType }
}

/**
 * Writes a config for AAC-LC or another object type below 31. @throws AppError 'invalid' for a sample rate or channel
 * count that has no code
 */
export function writeAudioSpecificConfig(options: {
  readonly objectType?: number
  readonly sampleRate: number
  readonly channels: number
}): Uint8Array {
  const { objectType = 2, sampleRate, channels } = options
  const rateIndex = sampleRates.indexOf(sampleRate)
  const layout = channelCounts.indexOf(channels)
  if (rateIndex < 0 || layout < 1)
    throw new AppError('invalid', `AAC: no code for ${sampleRate} Hz with ${channels} channels`)
  return Uint8Array.of((objectType << 3) | (rateIndex >> 1), ((rateIndex & 1) << 7) | (layout << 3))
}

/** The codec string of RFC 6381 3.3, for example `mp4a.40.2`. */
export function aacCodecString({ objectType, extensionType }: AudioSpecificConfig): string {
  return `mp4a.40.${extensionType ?? objectType}`
}
