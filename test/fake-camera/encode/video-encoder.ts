// Pictures to H.264 with the encoder in FFmpeg (x264), as a camera's chip does it: no delay, no reordered pictures, one
// slice.

import {
  AV_LOG_ERROR,
  AV_PICTURE_TYPE_I,
  AV_PICTURE_TYPE_NONE,
  AV_PIX_FMT_YUV420P,
  AVCOL_PRI_BT709,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT709,
  AVCOL_TRC_BT709,
  Codec,
  CodecContext,
  Dictionary,
  FF_ENCODER_LIBX264,
  FFmpegError,
  Frame,
  Log,
  Packet,
  Rational,
} from 'node-av'
import { listAnnexBNalUnits } from '../../../server/media/h264/nal-unit.ts'
import type { Picture } from '../scene/picture.ts'

export type VideoEncoding = {
  readonly width: number
  readonly height: number
  readonly framesPerSecond: number
  /** Frames from one key frame to the next. */
  readonly gopFrames: number
  readonly bitsPerSecond: number
  /** `limit`: constant quality, at most `bitsPerSecond`. `constant`: every second holds that much. */
  readonly rate: 'limit' | 'constant'
}

/** One coded picture. A key frame's NAL units begin with its parameter sets. */
export type EncodedPicture = { readonly isKey: boolean; readonly nals: readonly Uint8Array[] }

/** NAL unit types that travel; x264's notice about itself and delimiters do not. */
const kept: ReadonlySet<number> = new Set([1, 5, 7, 8])

export class VideoEncoder implements Disposable {
  readonly #context = new CodecContext()
  readonly #frame = new Frame()
  readonly #packet = new Packet()
  #count = 0n

  private constructor() {}

  /** Throws the encoder's own error when it does not take the settings. */
  static async open(encoding: VideoEncoding): Promise<VideoEncoder> {
    const encoder = new VideoEncoder()
    await encoder.#open(encoding)
    return encoder
  }

  async #open({ width, height, framesPerSecond, gopFrames, bitsPerSecond, rate }: VideoEncoding): Promise<void> {
    const codec = Codec.findEncoderByName(FF_ENCODER_LIBX264)
    if (!codec) throw new Error('no H.264 encoder in this build of FFmpeg')
    Log.setLevel(AV_LOG_ERROR)
    const context = this.#context
    context.allocContext3(codec)
    context.width = width
    context.height = height
    context.pixelFormat = AV_PIX_FMT_YUV420P
    context.timeBase = new Rational(1, framesPerSecond)
    context.framerate = new Rational(framesPerSecond, 1)
    context.gopSize = gopFrames
    context.maxBFrames = 0
    context.threadCount = 1
    context.colorRange = AVCOL_RANGE_MPEG
    context.colorSpace = AVCOL_SPC_BT709
    context.colorPrimaries = AVCOL_PRI_BT709
    context.colorTrc = AVCOL_TRC_BT709
    context.rcMaxRate = BigInt(bitsPerSecond)
    context.rcBufferSize = bitsPerSecond
    if (rate === 'constant') context.bitRate = BigInt(bitsPerSecond)
    const options = Dictionary.fromObject({
      preset: 'ultrafast',
      tune: 'zerolatency',
      profile: 'main',
      'forced-idr': '1',
      // No key frame but on the beat: a camera's chip does not look for cuts.
      'x264-params': `scenecut=0:keyint-min=${gopFrames}:sliced-threads=0:rc-lookahead=0:sync-lookahead=0:aud=0:aq-mode=1`,
      ...(rate === 'limit' && { crf: '26' }),
    })
    // Not open2Sync: with options it frees them twice (node-av 6.1.1).
    FFmpegError.throwIfError(await context.open2(codec, options), 'open the H.264 encoder')
    this.#frame.alloc()
    this.#frame.format = AV_PIX_FMT_YUV420P
    this.#frame.width = width
    this.#frame.height = height
    FFmpegError.throwIfError(this.#frame.allocBuffer(), 'allocate a picture')
    this.#packet.alloc()
  }

  /**
   * Encodes one picture of the size the encoder was opened with. In this thread, about 2 ms for 960×540: to hand the picture
   * to another and back costs more.
   */
  encode(picture: Picture, options: { forceKey?: boolean } = {}): EncodedPicture {
    FFmpegError.throwIfError(this.#frame.makeWritable(), 'take a picture')
    FFmpegError.throwIfError(this.#frame.fromBuffer(asBuffer(picture.data)), 'take a picture')
    this.#frame.pts = this.#count++
    this.#frame.pictType = options.forceKey ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
    FFmpegError.throwIfError(this.#context.sendFrameSync(this.#frame), 'encode a picture')
    FFmpegError.throwIfError(this.#context.receivePacketSync(this.#packet), 'encode a picture')
    const data = new Uint8Array(this.#packet.data ?? [])
    const isKey = this.#packet.isKeyframe
    this.#packet.unref()
    return { isKey, nals: listAnnexBNalUnits(data).filter((nal) => kept.has(nal[0]! & 0x1f)) }
  }

  [Symbol.dispose](): void {
    this.#packet.free()
    this.#frame.free()
    this.#context.freeContext()
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
