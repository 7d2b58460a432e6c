// Writes the sample entries that describe the codec of a track. AVC and HEVC: ISO/IEC 14496-15 5.4.2, 8.4.1; JPEG and
// AAC: ISO/IEC 14496-14 5.6 with the descriptors of ISO/IEC 14496-1 7.2.6; Opus: "Encapsulation of Opus in ISO Base
// Media File Format" 4.3.

import type { AudioFormat, VideoFormat } from '../frame.ts'
import { type Box, box, fixed16, fullBox, u8, u16, u32, zeros } from './box.ts'

/** `avc1` or `hvc1`, with parameter sets only in the entry, never in the samples. `mp4v` for JPEG. */
export function videoSampleEntry(format: VideoFormat): Box {
  switch (format.codec) {
    case 'h264':
      return visualEntry('avc1', format, box('avcC', format.config))
    case 'h265':
      return visualEntry('hvc1', format, box('hvcC', format.config))
    case 'mjpeg':
      return visualEntry('mp4v', format, fullBox('esds', 0, 0, esDescriptor(jpegObject, visualStream)))
  }
}

function visualEntry(type: string, { width, height }: VideoFormat, config: Box): Box {
  return box(
    type,
    zeros(6),
    u16(1), // data reference: this file
    zeros(16),
    u16(width, height),
    fixed16(72),
    fixed16(72),
    u32(0),
    u16(1), // frames per sample
    zeros(32), // compressor name
    u16(24, 0xffff),
    config,
  )
}

/** `mp4a` with `esds`, or `Opus` with `dOps`. */
export function audioSampleEntry({ codec, channels, sampleRate, config }: AudioFormat): Box {
  return box(
    codec === 'opus' ? 'Opus' : 'mp4a',
    zeros(6),
    u16(1),
    zeros(8),
    u16(channels, 16),
    zeros(4),
    // A rate that does not fit in 16.16 is stated by the timescale of the track and the decoder configuration.
    sampleRate < 0x10000 ? fixed16(sampleRate) : u32(0),
    codec === 'opus' ? box('dOps', config) : fullBox('esds', 0, 0, esDescriptor(aacObject, audioStream, config)),
  )
}

/**
 * Object types and stream types of ISO/IEC 14496-1 tables 5 and 6. The stream type includes the reserved bit below it.
 */
const aacObject = 0x40
const jpegObject = 0x6c
const audioStream = 0x15
const visualStream = 0x11

function esDescriptor(objectType: number, streamType: number, config?: Uint8Array): number[] {
  const specific = config ? descriptor(0x05, [...config]) : []
  // Buffer size and bit rates are unknown (0).
  const decoder = descriptor(0x04, [...u8(objectType, streamType), ...zeros(11), ...specific])
  return descriptor(0x03, [...u16(0), 0, ...decoder, ...descriptor(0x06, [0x02])])
}

/** Tag, length in base 128 and content (ISO/IEC 14496-1 8.3.3). */
function descriptor(tag: number, content: number[]): number[] {
  const length = [content.length & 0x7f]
  for (let rest = content.length >>> 7; rest > 0; rest >>>= 7) length.unshift((rest & 0x7f) | 0x80)
  return [tag, ...length, ...content]
}
