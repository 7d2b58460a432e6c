// Key frames to JPEGs with FFmpeg (node-av). Runs in the decoder process only: bytes from a camera are decoded nowhere else.
// JPEG colours are BT.601 over the full range (ITU-T T.871); whatever the camera sends is converted to that.

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

/** FFmpeg's scale of 2 (best) to 31; 4 is about quality 87 of other encoders. */
const jpegQuality = 4 * FF_QP2LAMBDA
/** A little over 8K: a parameter set that asks for more is refused before memory is taken. */
const maxPixels = 40_000_000
/** Decoders hold a few whole pictures each. */
const maxDecoders = 4
const maxPictureWriters = 12
/** What decodes or writes a larger picture (beyond 4K) is not kept for the next: some of them would hold a gigabyte. */
const maxKeptPixels = 9_000_000

export class ImageDecoder {
  readonly #decoders = new LruCache<string, KeyFrameDecoder>(maxDecoders)
  readonly #writers = new LruCache<string, PictureWriter>(maxPictureWriters)

  /** One JPEG for each size, equal sizes sharing one. Throws 'corrupt' when the frame cannot be decoded. */
  decode({ codec, config, data, sizes }: DecodeRequest): Uint8Array[] {
    const key = `${codec} ${Buffer.from(config).toString('base64')}`
    const decoder = this.#decoders.get(key, () => new KeyFrameDecoder(codec, config))
    let isKept = false
    try {
      const frame = decoder.decode(data)
      isKept = frame.width * frame.height <= maxKeptPixels
      return this.#writePictures(frame, { codec, data, sizes })
    } finally {
      if (!isKept) this.#decoders.forget(key)
    }
  }

  #writePictures(frame: Frame, { codec, data, sizes }: Omit<DecodeRequest, 'config'>): Uint8Array[] {
    try {
      const shown = shownSize(frame)
      const bySize = new Map<string, Uint8Array>()
      return sizes.map((limits) => {
        const size = fitImage(shown, limits)
        const key = `${size.width}x${size.height}`
        const isAsSent = codec === 'mjpeg' && size.width === frame.width && size.height === frame.height
        const jpeg = isAsSent ? data : (bySize.get(key) ?? this.#writePicture(frame, size))
        bySize.set(key, jpeg)
        return jpeg
      })
    } finally {
      frame.unref()
    }
  }

  #writePicture(frame: Frame, size: ImageSize): Uint8Array {
    const key = `${frame.width}x${frame.height} ${frame.format} ${size.width}x${size.height}`
    try {
      return this.#writers.get(key, () => new PictureWriter(size)).write(frame)
    } finally {
      if (size.width * size.height > maxKeptPixels) this.#writers.forget(key)
    }
  }
}

/** Decodes single pictures of one configuration, one after the other; see KeyFrameCollector for what it is given. */
class KeyFrameDecoder implements Disposable {
  readonly #context = new CodecContext()
  readonly #packet = new Packet()
  #frame = new Frame()
  /** Receiving empties a frame before it is known whether there is another. */
  #spare = new Frame()
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
    this.#spare.alloc()
  }

  /** The frame is valid until the next call; the caller unrefs it. */
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
      // Draining gives the picture at once, also where the stream reorders pictures.
      this.#context.sendPacketSync(null)
      check(this.#receiveLast(result), `find a picture in ${data.length} bytes of ${this.#codec}`)
    } finally {
      this.#packet.unref()
      this.#context.flushBuffers()
    }
    if (this.#frame.colorSpace === AVCOL_SPC_UNSPECIFIED) {
      this.#frame.colorSpace = guessColorSpace(this.#codec, this.#frame.height)
    }
    return this.#frame
  }

  /** Takes the frames there are and keeps the last one. Returns 0 once there was one, else why there is none. */
  #receiveLast(before: number): number {
    let result = before
    for (;;) {
      const received = this.#context.receiveFrameSync(this.#spare)
      if (received < 0) return result === 0 ? 0 : received
      const last = this.#spare
      this.#spare = this.#frame
      this.#frame = last
      result = 0
    }
  }

  [Symbol.dispose](): void {
    this.#context.freeContext()
    this.#packet.free()
    this.#frame.free()
    this.#spare.free()
  }
}

/** Scales to one size and encodes. */
class PictureWriter implements Disposable {
  readonly #scaler = new SoftwareScaleContext()
  readonly #encoder = new CodecContext()
  readonly #picture = new Frame()
  readonly #packet = new Packet()
  #count = 0n

  constructor({ width, height }: ImageSize) {
    this.#scaler.allocContext()

    this.#picture.alloc()
    this.#picture.width = width
    this.#picture.height = height
    this.#picture.format = AV_PIX_FMT_YUV420P
    this.#picture.colorRange = AVCOL_RANGE_JPEG
    this.#picture.colorSpace = AVCOL_SPC_BT470BG
    check(this.#picture.getBuffer(), `allocate a picture of ${width}x${height}`)

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
    check(this.#scaler.scaleFrameSync(this.#picture, frame), 'scale the picture')
    this.#picture.quality = jpegQuality
    this.#picture.pts = this.#count++
    check(this.#encoder.sendFrameSync(this.#picture), 'encode the picture')
    check(this.#encoder.receivePacketSync(this.#packet), 'take the JPEG')
    try {
      return new Uint8Array(this.#packet.data ?? [])
    } finally {
      this.#packet.unref()
    }
  }

  [Symbol.dispose](): void {
    this.#scaler.freeContext()
    this.#encoder.freeContext()
    this.#picture.free()
    this.#packet.free()
  }
}

/** The size in square pixels; the larger side of a stretched pixel is made smaller, so that nothing is enlarged. */
function shownSize({ width, height, sampleAspectRatio: { num, den } }: Frame): ImageSize {
  if (num <= 0 || den <= 0 || num === den) return { width, height }
  return num > den
    ? { width, height: Math.max(1, Math.round((height * den) / num)) }
    : { width: Math.max(1, Math.round((width * num) / den)), height }
}

/** As browsers guess for a stream that does not say, so that picture and video look alike. */
function guessColorSpace(codec: VideoCodec, height: number) {
  return codec !== 'mjpeg' && height >= 720 ? AVCOL_SPC_BT709 : AVCOL_SPC_BT470BG
}

function check(result: number, what: string): void {
  if (result < 0) throw new AppError('corrupt', `could not ${what}: ${new FFmpegError(result).message}`)
}
