// Pictures to H.264, H.265 or JPEG with the encoders in FFmpeg, as a camera's chip does it: no delay, no reordered pictures unless
// asked for, one slice.

import {
  AV_CODEC_FLAG_QSCALE,
  AV_LOG_ERROR,
  AV_PICTURE_TYPE_I,
  AV_PICTURE_TYPE_NONE,
  AV_PIX_FMT_YUV420P,
  AVCOL_PRI_BT709,
  AVCOL_RANGE_JPEG,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT709,
  AVCOL_TRC_BT709,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  Codec,
  CodecContext,
  Dictionary,
  FF_ENCODER_LIBX264,
  FF_ENCODER_LIBX265,
  FF_ENCODER_MJPEG,
  FF_QP2LAMBDA,
  FFmpegError,
  Frame,
  Log,
  Packet,
  Rational,
} from 'node-av'
import type { VideoCodec } from '../../../server/media/frame.ts'
import { nalTypeOf } from '../../../server/media/h264/nal-unit.ts'
import { hevcNalTypeOf } from '../../../server/media/h265/nal-unit.ts'
import { listAnnexBNalUnits } from '../../../server/media/nal/nal-units.ts'
import type { Picture } from '../scene/picture.ts'

export type VideoEncoding = {
  readonly codec: VideoCodec
  readonly width: number
  readonly height: number
  readonly framesPerSecond: number
  /** Frames from one key frame to the next. */
  readonly gopFrames: number
  readonly bitsPerSecond: number
  /** `limit`: constant quality, at most `bitsPerSecond`. `constant`: every second holds that much. */
  readonly rate: 'limit' | 'constant'
  /** Pictures between two others that are sent after both. An encoder that makes them is behind: see `finish`. */
  readonly bFrames: number
}

/** One coded picture: NAL units, of a key frame with its parameter sets in front; or one JPEG file. */
export type EncodedPicture = {
  readonly isKey: boolean
  readonly units: readonly Uint8Array[]
  /** Which of the pictures given it is, from 0: the order of showing. */
  readonly index: number
}

/** What travels: slices and parameter sets. The encoders' notices about themselves and delimiters do not. */
const isKept: Readonly<Record<'h264' | 'h265', (nal: Uint8Array) => boolean>> = {
  h264: (nal) => [1, 5, 7, 8].includes(nalTypeOf(nal[0]!)),
  h265: (nal) => hevcNalTypeOf(nal[0]!) <= 34,
}

/** FFmpeg's scale of 2 (best) to 31. */
const jpegQuality = 5 * FF_QP2LAMBDA

const encoderNames = { h264: FF_ENCODER_LIBX264, h265: FF_ENCODER_LIBX265, mjpeg: FF_ENCODER_MJPEG } as const

export class VideoEncoder implements Disposable {
  readonly #context = new CodecContext()
  readonly #frame = new Frame()
  readonly #packet = new Packet()
  #codec: VideoCodec = 'h264'
  #count = 0n

  private constructor() {}

  /** Throws the encoder's own error when it does not take the settings. */
  static async open(encoding: VideoEncoding): Promise<VideoEncoder> {
    const encoder = new VideoEncoder()
    await encoder.#open(encoding)
    return encoder
  }

  async #open(encoding: VideoEncoding): Promise<void> {
    const { codec: name, width, height, framesPerSecond, bitsPerSecond, rate } = encoding
    const codec = Codec.findEncoderByName(encoderNames[name])
    if (!codec) throw new Error(`no ${name} encoder in this build of FFmpeg`)
    Log.setLevel(AV_LOG_ERROR)
    this.#codec = name
    const context = this.#context
    context.allocContext3(codec)
    context.width = width
    context.height = height
    context.pixelFormat = AV_PIX_FMT_YUV420P
    context.timeBase = new Rational(1, framesPerSecond)
    context.framerate = new Rational(framesPerSecond, 1)
    context.threadCount = 1
    context.colorRange = name === 'mjpeg' ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
    context.colorSpace = AVCOL_SPC_BT709
    context.colorPrimaries = AVCOL_PRI_BT709
    context.colorTrc = AVCOL_TRC_BT709
    if (name === 'mjpeg') {
      context.setFlags(AV_CODEC_FLAG_QSCALE)
      context.globalQuality = jpegQuality
    } else {
      context.gopSize = encoding.gopFrames
      context.maxBFrames = encoding.bFrames
      context.rcMaxRate = BigInt(bitsPerSecond)
      context.rcBufferSize = bitsPerSecond
      if (rate === 'constant') context.bitRate = BigInt(bitsPerSecond)
    }
    const options = Dictionary.fromObject(name === 'mjpeg' ? { huffman: 'default' } : encoderOptions(encoding))
    // Not open2Sync: with options it frees them twice (node-av 6.1.1).
    FFmpegError.throwIfError(await context.open2(codec, options), `open the ${name} encoder`)
    this.#frame.alloc()
    this.#frame.format = AV_PIX_FMT_YUV420P
    this.#frame.width = width
    this.#frame.height = height
    FFmpegError.throwIfError(this.#frame.allocBuffer(), 'allocate a picture')
    this.#packet.alloc()
  }

  /**
   * Encodes one picture of the size the encoder was opened with; gives the picture that is ready, which with `bFrames` is an earlier
   * one or none. In this thread, about 2 ms for 960×540: to hand the picture to another and back costs more.
   */
  encode(picture: Picture, options: { forceKey?: boolean } = {}): EncodedPicture | undefined {
    FFmpegError.throwIfError(this.#frame.makeWritable(), 'take a picture')
    FFmpegError.throwIfError(this.#frame.fromBuffer(asBuffer(picture.data)), 'take a picture')
    this.#frame.pts = this.#count++
    this.#frame.pictType = options.forceKey ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
    if (this.#codec === 'mjpeg') this.#frame.quality = jpegQuality
    FFmpegError.throwIfError(this.#context.sendFrameSync(this.#frame), 'encode a picture')
    return this.#receive()
  }

  /** The pictures still inside, in the order of decoding; nothing can be encoded after them. */
  finish(): EncodedPicture[] {
    FFmpegError.throwIfError(this.#context.sendFrameSync(null), 'finish encoding')
    const rest: EncodedPicture[] = []
    for (let picture = this.#receive(); picture; picture = this.#receive()) rest.push(picture)
    return rest
  }

  #receive(): EncodedPicture | undefined {
    const result = this.#context.receivePacketSync(this.#packet)
    if (result === AVERROR_EAGAIN || result === AVERROR_EOF) return undefined
    FFmpegError.throwIfError(result, 'encode a picture')
    const data = new Uint8Array(this.#packet.data ?? [])
    const { isKeyframe: isKey, pts } = this.#packet
    this.#packet.unref()
    const units = this.#codec === 'mjpeg' ? [data] : listAnnexBNalUnits(data).filter(isKept[this.#codec])
    return { isKey, units, index: Number(pts) }
  }

  [Symbol.dispose](): void {
    this.#packet.free()
    this.#frame.free()
    this.#context.freeContext()
  }
}

/** Key frames on the beat only: a camera's chip does not look for cuts. And no B-frames where they would not fit. */
function encoderOptions({ codec, gopFrames, bFrames, rate }: VideoEncoding): Record<string, string> {
  const order = `bframes=${bFrames}:b-adapt=0`
  const common = { preset: 'ultrafast', 'forced-idr': '1', ...(rate === 'limit' && { crf: '26' }) }
  const tune = bFrames === 0 ? { tune: 'zerolatency' } : {}
  if (codec === 'h265') {
    const params = `log-level=error:scenecut=0:keyint=${gopFrames}:min-keyint=${gopFrames}:frame-threads=1:pools=none:repeat-headers=1`
    return { ...common, ...tune, 'x265-params': `${params}:${order}` }
  }
  const params = `scenecut=0:keyint-min=${gopFrames}:sliced-threads=0:rc-lookahead=0:sync-lookahead=0:aud=0:aq-mode=1`
  return { ...common, ...tune, profile: 'main', 'x264-params': `${params}:${order}` }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
