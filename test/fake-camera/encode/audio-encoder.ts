// Audio to AAC-LC with the encoder in FFmpeg: blocks of 1024 samples in, raw_data_blocks out.

import {
  AV_CHANNEL_LAYOUT_MONO,
  AV_SAMPLE_FMT_FLTP,
  AVERROR_EAGAIN,
  Codec,
  CodecContext,
  FF_ENCODER_AAC,
  FFmpegError,
  Frame,
  Packet,
  Rational,
} from 'node-av'

const samplesPerBlock = 1024

/** Whatever makes blocks of audio. */
export type BlockEncoder = Disposable & {
  readonly sampleRate: number
  /** How many `encode` takes. */
  readonly samplesPerBlock: number
  /** What a decoder must know beforehand; empty where that is nothing. */
  readonly config: Uint8Array
  /** Takes samples in −1…1 and gives the block that is ready, if one is. */
  encode(samples: Float32Array): EncodedBlock | undefined
}

export type EncodedBlock = {
  readonly data: Uint8Array
  /** Where the block's audio lies, counted in samples from the first one given; the first block of all lies before it. */
  readonly firstSample: number
}

export class AacEncoder implements BlockEncoder {
  readonly samplesPerBlock = samplesPerBlock
  readonly sampleRate: number
  readonly #context = new CodecContext()
  readonly #packet = new Packet()
  #sampleCount = 0n

  private constructor(sampleRate: number) {
    this.sampleRate = sampleRate
  }

  /** One channel. Throws the encoder's own error when it does not take the settings. */
  static async open(sampleRate: number, bitsPerSecond: number): Promise<AacEncoder> {
    const encoder = new AacEncoder(sampleRate)
    const codec = Codec.findEncoderByName(FF_ENCODER_AAC)
    if (!codec) throw new Error('no AAC encoder in this build of FFmpeg')
    const context = encoder.#context
    context.allocContext3(codec)
    context.sampleRate = sampleRate
    context.sampleFormat = AV_SAMPLE_FMT_FLTP
    context.channelLayout = AV_CHANNEL_LAYOUT_MONO
    context.bitRate = BigInt(bitsPerSecond)
    context.timeBase = new Rational(1, sampleRate)
    context.threadCount = 1
    context.setOption('aac_coder', 'fast')
    FFmpegError.throwIfError(await context.open2(codec), 'open the AAC encoder')
    encoder.#packet.alloc()
    return encoder
  }

  /** AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1). */
  get config(): Uint8Array {
    return new Uint8Array(this.#context.extraData ?? [])
  }

  /** Takes 1024 samples in −1…1 and gives the block that is ready, if one is: the encoder is a block behind. */
  encode(samples: Float32Array): EncodedBlock | undefined {
    using frame = Frame.fromAudioBuffer(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength), {
      nbSamples: samples.length,
      format: AV_SAMPLE_FMT_FLTP,
      sampleRate: this.sampleRate,
      channelLayout: AV_CHANNEL_LAYOUT_MONO,
      timeBase: { num: 1, den: this.sampleRate },
      pts: this.#sampleCount,
    })
    this.#sampleCount += BigInt(samples.length)
    FFmpegError.throwIfError(this.#context.sendFrameSync(frame), 'encode audio')
    const result = this.#context.receivePacketSync(this.#packet)
    if (result === AVERROR_EAGAIN) return undefined
    FFmpegError.throwIfError(result, 'encode audio')
    const block = { data: new Uint8Array(this.#packet.data ?? []), firstSample: Number(this.#packet.pts) }
    this.#packet.unref()
    return block
  }

  [Symbol.dispose](): void {
    this.#packet.free()
    this.#context.freeContext()
  }
}
