// Decodes key frames to JPEGs with FFmpeg (node-av). Runs only in the decoder process: bytes from a camera are decoded
// nowhere else. JPEG uses full-range BT.601 colors (ITU-T T.871), so frames are converted to them.

import {
  AV_CODEC_FLAG_QSCALE,
  AV_CODEC_ID_H264,
  AV_CODEC_ID_HEVC,
  AV_CODEC_ID_MJPEG,
  AV_PIX_FMT_YUV420P,
  AVCOL_RANGE_JPEG,
  AVCOL_SPC_BT470BG,
  AVCOL_SPC_BT709,
  AVCOL_SPC_UNSPECIFIED,
  type AVCodecID,
  FF_QP2LAMBDA,
} from 'node-av/constants'
import { Codec, CodecContext, FFmpegError, Frame, Packet, Rational, SoftwareScaleContext } from 'node-av/lib'
import { AppError } from '../base/error.ts'
import type { VideoCodec } from '../media/frame.ts'
import { fitImage, type ImageSize } from '../media/image-size.ts'
import { splitKeyFrame } from '../media/nal/key-frame.ts'
import type { DecodeRequest } from './decoder-protocol.ts'
import { LruCache } from './lru-cache.ts'

const codecIds: Readonly<Record<VideoCodec, AVCodecID>> = {
  h264: AV_CODEC_ID_H264,
  h265: AV_CODEC_ID_HEVC,
  mjpeg: AV_CODEC_ID_MJPEG,
}

/** FFmpeg's scale goes from 2 (best) to 31; 4 is about quality 87 of other encoders. */
const jpegQuality = 4 * FF_QP2LAMBDA
/** Slightly more than 8K. A parameter set with a larger size is rejected before memory is allocated. */
const maxPixels = 40_000_000
/** Each decoder holds several uncompressed frames. */
const maxDecoders = 4
const maxWriters = 12
/** Decoders and writers for larger images (beyond 4K) are not cached, because several of them would hold a gigabyte. */
const maxReusablePixels = 9_000_000

export class ImageDecoder {
  readonly #decoders = new LruCache<string, KeyFrameDecoder>(maxDecoders)
  readonly #writers = new LruCache<string, JpegWriter>(maxWriters)

  /** Returns one JPEG for each size; equal sizes share one. Throws 'corrupt' when the frame cannot be decoded. */
  decode({ codec, config, data, sizes }: DecodeRequest): Uint8Array[] {
    const key = `${codec} ${Buffer.from(config).toString('base64')}`
    const decoder = this.#decoders.get(key, () => new KeyFrameDecoder(codec, config))
    let isReusable = false
    try {
      const frame = decoder.decode(data)
      isReusable = frame.width * frame.height <= maxReusablePixels
      return this.#writeJpegs(frame, { codec, data, sizes })
    } finally {
      if (!isReusable) this.#decoders.remove(key)
    }
  }

  #writeJpegs(frame: Frame, { codec, data, sizes }: Omit<DecodeRequest, 'config'>): Uint8Array[] {
    try {
      const display = displaySize(frame)
      const bySize = new Map<string, Uint8Array>()
      return sizes.map((limits) => {
        const size = fitImage(display, limits)
        const key = `${size.width}x${size.height}`
        const isUnchanged = codec === 'mjpeg' && size.width === frame.width && size.height === frame.height
        const jpeg = isUnchanged ? data : (bySize.get(key) ?? this.#writeJpeg(frame, size))
        bySize.set(key, jpeg)
        return jpeg
      })
    } finally {
      frame.unref()
    }
  }

  #writeJpeg(frame: Frame, size: ImageSize): Uint8Array {
    const key = `${frame.width}x${frame.height} ${frame.format} ${size.width}x${size.height}`
    try {
      return this.#writers.get(key, () => new JpegWriter(size)).write(frame)
    } finally {
      if (size.width * size.height > maxReusablePixels) this.#writers.remove(key)
    }
  }
}

/** Decodes individual key frames with one configuration. For its input, see `KeyFrameCollector`. */
class KeyFrameDecoder implements Disposable {
  readonly #context = new CodecContext()
  readonly #packet = new Packet()
  #frame = new Frame()
  /** Receiving clears a frame before it is known whether there is another one. */
  #received = new Frame()
  readonly #codec: VideoCodec

  constructor(codec: VideoCodec, config: Uint8Array) {
    this.#codec = codec
    const found = Codec.findDecoder(codecIds[codec])
    if (!found) throw new AppError('internal', `expected FFmpeg to have a decoder for ${codec}`)
    this.#context.allocContext3(found)
    if (config.length > 0) this.#context.extraData = Buffer.from(config)
    this.#context.threadCount = 1
    this.#context.setOption('max_pixels', maxPixels)
    check(this.#context.open2Sync(found), `open the ${codec} decoder`)
    this.#packet.alloc()
    this.#frame.alloc()
    this.#received.alloc()
  }

  /** The returned frame is valid until the next call. The caller must unref it. */
  decode(data: Uint8Array): Frame {
    try {
      let isFirst = true
      let result = -1
      for (const unit of splitKeyFrame(this.#codec, data)) {
        this.#packet.data = Buffer.from(unit.buffer, unit.byteOffset, unit.byteLength)
        this.#packet.isKeyframe = isFirst
        isFirst = false
        check(this.#context.sendPacketSync(this.#packet), `decode ${data.length} bytes of ${this.#codec}`)
        result = this.#receiveLast(result)
      }
      // Draining returns the frame immediately, even if the stream reorders frames.
      this.#context.sendPacketSync(null)
      check(this.#receiveLast(result), `find a frame in ${data.length} bytes of ${this.#codec}`)
    } finally {
      this.#packet.unref()
      this.#context.flushBuffers()
    }
    if (this.#frame.colorSpace === AVCOL_SPC_UNSPECIFIED) {
      this.#frame.colorSpace = guessColorSpace(this.#codec, this.#frame.height)
    }
    return this.#frame
  }

  /** Receives all available frames and keeps the last one. Returns 0 if there was one, otherwise the error. */
  #receiveLast(before: number): number {
    let result = before
    for (;;) {
      const received = this.#context.receiveFrameSync(this.#received)
      if (received < 0) return result === 0 ? 0 : received
      const last = this.#received
      this.#received = this.#frame
      this.#frame = last
      result = 0
    }
  }

  [Symbol.dispose](): void {
    this.#context.freeContext()
    this.#packet.free()
    this.#frame.free()
    this.#received.free()
  }
}

/** Scales a frame to one size and encodes it. */
class JpegWriter implements Disposable {
  readonly #scaler = new SoftwareScaleContext()
  readonly #encoder = new CodecContext()
  readonly #scaled = new Frame()
  readonly #packet = new Packet()
  #count = 0n

  constructor({ width, height }: ImageSize) {
    this.#scaler.allocContext()

    this.#scaled.alloc()
    this.#scaled.width = width
    this.#scaled.height = height
    this.#scaled.format = AV_PIX_FMT_YUV420P
    this.#scaled.colorRange = AVCOL_RANGE_JPEG
    this.#scaled.colorSpace = AVCOL_SPC_BT470BG
    check(this.#scaled.getBuffer(), `allocate an image of ${width}x${height}`)

    const codec = Codec.findEncoder(AV_CODEC_ID_MJPEG)
    if (!codec) throw new AppError('internal', 'expected FFmpeg to have a JPEG encoder')
    this.#encoder.allocContext3(codec)
    this.#encoder.width = width
    this.#encoder.height = height
    this.#encoder.pixelFormat = AV_PIX_FMT_YUV420P
    this.#encoder.colorRange = AVCOL_RANGE_JPEG
    this.#encoder.colorSpace = AVCOL_SPC_BT470BG
    this.#encoder.timeBase = new Rational(1, 25)
    this.#encoder.threadCount = 1
    this.#encoder.setFlags(AV_CODEC_FLAG_QSCALE)
    this.#encoder.globalQuality = jpegQuality
    check(this.#encoder.open2Sync(codec), `open the JPEG encoder for ${width}x${height}`)
    this.#packet.alloc()
  }

  write(frame: Frame): Uint8Array {
    check(this.#scaler.scaleFrameSync(this.#scaled, frame), 'scale the image')
    this.#scaled.quality = jpegQuality
    this.#scaled.pts = this.#count++
    check(this.#encoder.sendFrameSync(this.#scaled), 'encode the image')
    check(this.#encoder.receivePacketSync(this.#packet), 'receive the JPEG')
    try {
      return new Uint8Array(this.#packet.data ?? [])
    } finally {
      this.#packet.unref()
    }
  }

  [Symbol.dispose](): void {
    this.#scaler.freeContext()
    this.#encoder.freeContext()
    this.#scaled.free()
    this.#packet.free()
  }
}

/** Returns the size in square pixels. The larger side of a non-square pixel is reduced, so that nothing is enlarged. */
function displaySize({ width, height, sampleAspectRatio: { num, den } }: Frame): ImageSize {
  if (num <= 0 || den <= 0 || num === den) return { width, height }
  return num > den
    ? { width, height: Math.max(1, Math.round((height * den) / num)) }
    : { width: Math.max(1, Math.round((width * num) / den)), height }
}

/** Guesses like browsers do for a stream without color information, so that image and video look alike. */
function guessColorSpace(codec: VideoCodec, height: number) {
  return codec !== 'mjpeg' && height >= 720 ? AVCOL_SPC_BT709 : AVCOL_SPC_BT470BG
}

function check(result: number, what: string): void {
  if (result < 0) throw new AppError('corrupt', `could not ${what}: ${new FFmpegError(result).message}`)
}
