// The value that passes through the whole service: an encoded frame as the camera sent it.

import type { FrameMemory } from './frame-memory.ts'

/**
 * Memory of a frame in addition to its `data`. It counts because a camera may send a million frames of ten bytes each.
 */
export const frameCostBytes = 400

/** One encoded video frame or audio block. Immutable; `data` is shared by all readers and never copied. */
export type Frame = {
  readonly kind: 'video' | 'audio'

  /** Presentation time in 90 kHz ticks on the time axis of the run (see `RunStart`). */
  readonly pts90k: number

  /**
   * Decode time on the same axis. Strictly increasing within a track. Equals `pts90k` where frames are not reordered.
   * It is never later than `pts90k`, except for some frames at the start of a stream that reorders frames without
   * signaling it.
   */
  readonly dts90k: number

  /**
   * Wall clock of the presentation in Unix milliseconds. A frame that is shown before an earlier frame has the wall
   * clock of that one. Never decreases within a track of a run.
   */
  readonly wallMs: number

  /**
   * True when a decoder can start here: H.264 IDR, H.265 IRAP, a frame with a recovery point message, every JPEG, every
   * audio block.
   */
  readonly isKey: boolean

  /**
   * Part of this frame, or of a frame that it refers to, was lost, so decoders show it with artifacts. Never set on key
   * frames.
   */
  readonly isDamaged?: boolean | undefined

  /** Frames before this one were lost or were dropped as damaged. */
  readonly isAfterLoss?: boolean | undefined

  /**
   * Set on a key frame that is not an MP4 sync sample because only a recovery point message makes it a key frame: the
   * number of reference frames until the decoder output is correct. 0 means correct from this frame on.
   */
  readonly recovery?: number | undefined

  /**
   * True for a leading picture: it is shown before the key frame that it follows and refers to earlier frames. A
   * decoder that starts at the key frame cannot decode it.
   */
  readonly isLeading?: boolean | undefined

  /**
   * For h264 and h265, one access unit: NAL units that are each prefixed with their length in 4 bytes (ISO/IEC
   * 14496-15), without parameter sets and access unit delimiters. For mjpeg, one complete JPEG file from FF D8 to FF D9
   * with the size of the format; every one is a key frame. For aac, one raw_data_block without ADTS header. For opus,
   * one packet.
   */
  readonly data: Uint8Array

  /**
   * The memory that contains `data`. A reader that keeps the frame must hold it. Undefined when the JavaScript
   * engine manages the memory.
   */
  readonly memory?: FrameMemory | undefined
}

export type VideoCodec = 'h264' | 'h265' | 'mjpeg'
export type AudioCodec = 'aac' | 'opus'

export type VideoFormat = {
  readonly codec: VideoCodec
  /** Pixels, after cropping. */
  readonly width: number
  readonly height: number
  /**
   * h264: AVCDecoderConfigurationRecord (ISO/IEC 14496-15 5.3.3.1); h265: HEVCDecoderConfigurationRecord; mjpeg: empty.
   */
  readonly config: Uint8Array
  /**
   * Codec string of RFC 6381, for example `avc1.4d401f`; `mp4v.6C` for mjpeg (see `createJpegFormat` in
   * jpeg/jpeg-header.ts).
   */
  readonly codecString: string
}

/** How far decoding order may differ from presentation order. */
export type PictureOrder = {
  /**
   * The largest number of frames that precede a frame in decoding order and follow it in presentation order, as the
   * stream signals it. Undefined when the stream does not signal it.
   */
  readonly depth: number | undefined
  /** Upper limit for the reorder depth. With 0, a step back in time is an error of the camera's clock. */
  readonly maxDepth: number
  /** Fixed or nominal number of frames per second; undefined when unknown. */
  readonly frameRate: number | undefined
}

export type AudioFormat = {
  readonly codec: AudioCodec
  /** Sample rate in Hz; always 48000 for opus. */
  readonly sampleRate: number
  readonly channels: number
  /** aac: AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1). opus: the content of the `dOps` box. */
  readonly config: Uint8Array
  /** Codec string of RFC 6381, for example `mp4a.40.2`; `opus` for Opus. */
  readonly codecString: string
}

export type StreamFormat = {
  readonly video: VideoFormat
  readonly audio: AudioFormat | undefined
}
