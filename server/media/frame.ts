// The one value that travels through the whole service: an encoded frame as the camera sent it.

import type { FrameMemory } from './frame-memory.ts'

/** What a frame takes in memory besides its `data`: that of a camera may be ten bytes, and there may be a million of them. */
export const frameCostBytes = 400

/** One encoded picture or audio block. Immutable; `data` is shared by all readers, never copied. */
export type Frame = {
  readonly kind: 'video' | 'audio'

  /** Presentation time in 90 kHz ticks on the run's own axis (see `RunStart`). */
  readonly pts90k: number

  /**
   * Decode time on the same axis. Increases strictly within a track; equals `pts90k` where no picture is reordered, and is not
   * after it but for some pictures at the start of a stream that reorders without saying so.
   */
  readonly dts90k: number

  /**
   * Wall clock of the presentation, Unix milliseconds; of a picture shown before one that came earlier, that one's. Never decreases
   * within a track of a run.
   */
  readonly wallMs: number

  /**
   * True when a decoder can start here: H.264 IDR, H.265 IRAP, a picture with a recovery point message, every JPEG, every audio
   * block.
   */
  readonly isKey: boolean

  /** A part of it, or of a picture that it refers to, was lost: decoders show it with faults. Never of a key frame. */
  readonly isDamaged?: boolean | undefined

  /** Pictures between the one before and this one were lost or dropped as damaged. */
  readonly isAfterLoss?: boolean | undefined

  /**
   * Of a key frame that is not a sync sample of MP4 (only a recovery point message makes it one): the number of reference pictures after
   * which the decoder shows what was encoded; 0 from the key frame on.
   */
  readonly recovery?: number | undefined

  /**
   * True for a picture that is shown before the key frame it follows and refers to pictures before that: a decoder that starts at
   * the key frame cannot decode it.
   */
  readonly isLeading?: boolean | undefined

  /**
   * h264, h265: one access unit, NAL units each prefixed by its length in 4 bytes (ISO/IEC 14496-15), without parameter
   * sets and access unit delimiters. mjpeg: one complete JPEG file, from its FF D8 to its FF D9, of the size the format tells; every
   * one is a key frame. aac: one raw_data_block without ADTS header. opus: one packet.
   */
  readonly data: Uint8Array

  /** What `data` lies in, to be held by whoever keeps the frame; undefined when that is the collector's alone. */
  readonly memory?: FrameMemory | undefined
}

export type VideoCodec = 'h264' | 'h265' | 'mjpeg'
export type AudioCodec = 'aac' | 'opus'

export type VideoFormat = {
  readonly codec: VideoCodec
  /** Pixels, after cropping. */
  readonly width: number
  readonly height: number
  /** h264: AVCDecoderConfigurationRecord (ISO/IEC 14496-15 5.3.3.1); h265: HEVCDecoderConfigurationRecord; mjpeg: empty. */
  readonly config: Uint8Array
  /** RFC 6381, for instance `avc1.4d401f`; `mp4v.6C` for mjpeg (see `createJpegFormat` in jpeg/jpeg-header.ts). */
  readonly codecString: string
}

/** How far the order of decoding may differ from the order of showing. */
export type PictureOrder = {
  /** Most pictures that come before one and are shown after it, as the stream tells; undefined when it does not. */
  readonly depth: number | undefined
  /** More than these are not believed; 0: a step back in time is a fault of the camera's clock. */
  readonly maxDepth: number
  /** Pictures per second of a fixed or nominal rate, or undefined when not told. */
  readonly frameRate: number | undefined
}

export type AudioFormat = {
  readonly codec: AudioCodec
  /** Hz; of opus always 48000. */
  readonly sampleRate: number
  readonly channels: number
  /** aac: AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1). opus: the content of the `dOps` box. */
  readonly config: Uint8Array
  /** RFC 6381, for instance `mp4a.40.2`; `opus`. */
  readonly codecString: string
}

export type StreamFormat = {
  readonly video: VideoFormat
  readonly audio: AudioFormat | undefined
}
