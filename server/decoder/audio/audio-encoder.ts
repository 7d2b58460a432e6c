// Transcodes the telephone audio of one camera to 16 kHz AAC-LC with FFmpeg (node-av). Runs only in the audio process.

import {
  AV_CHANNEL_LAYOUT_MONO,
  AV_CODEC_ID_AAC,
  AV_CODEC_ID_ADPCM_G726,
  AV_CODEC_ID_ADPCM_G726LE,
  AV_SAMPLE_FMT_FLTP,
  AVERROR_EAGAIN,
} from 'node-av/constants'
import { Codec, CodecContext, FFmpegError, Frame, Packet, Rational } from 'node-av/lib'
import { AppError } from '../../base/error.ts'
import { transcodedSampleRate } from '../../media/telephony/audio-transcoder.ts'
import { aLawTable, type G711Table, muLawTable } from '../../media/telephony/g711.ts'
import { bitsPerSample, type TelephoneCoding } from '../../media/telephony/telephone-coding.ts'
import { Upsampler } from '../../media/telephony/upsampler.ts'

const blockSamples = 1024
const bitsPerSecond = 32_000

export type EncodedBlock = { readonly number: number; readonly data: Uint8Array }

export class AudioEncoder implements Disposable {
  readonly #decode: SampleDecoder
  readonly #upsampler: Upsampler | undefined
  readonly #encoder = new CodecContext()
  readonly #packet = new Packet()
  /** Numbers of the chunks whose blocks are still to come, because the encoder has a delay. */
  readonly #numbers: number[] = []
  #chunkCount = 0
  #lastBlockIndex = 0

  /** `sampleRate` is 8000 or 16000. Throws 'invalid' for other rates. */
  constructor(coding: TelephoneCoding, sampleRate: number) {
    if (sampleRate !== transcodedSampleRate && sampleRate * 2 !== transcodedSampleRate) {
      throw new AppError('invalid', `expected audio of 8000 or 16000 Hz, got ${sampleRate}`)
    }
    this.#decode = createSampleDecoder(coding)
    if (sampleRate !== transcodedSampleRate) this.#upsampler = new Upsampler()
    this.#openEncoder()
  }

  /**
   * Takes a chunk with the samples of one block. Returns the next finished block, which belongs to an earlier chunk, or
   * undefined.
   */
  encode(number: number, data: Uint8Array): EncodedBlock | undefined {
    const decoded = this.#decode.decode(data)
    const samples = this.#upsampler ? this.#upsampler.push(decoded) : decoded
    if (samples.length !== blockSamples) {
      throw new AppError('corrupt', `expected ${blockSamples} samples in a chunk, got ${samples.length}`)
    }
    using frame = Frame.fromAudioBuffer(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength), {
      nbSamples: blockSamples,
      format: AV_SAMPLE_FMT_FLTP,
      sampleRate: transcodedSampleRate,
      channelLayout: AV_CHANNEL_LAYOUT_MONO,
      timeBase: { num: 1, den: transcodedSampleRate },
      pts: BigInt(this.#chunkCount * blockSamples),
    })
    this.#numbers.push(number)
    this.#chunkCount++
    check(this.#encoder.sendFrameSync(frame), 'encode audio')
    return this.#receive()
  }

  [Symbol.dispose](): void {
    this.#decode[Symbol.dispose]()
    this.#packet.free()
    this.#encoder.freeContext()
  }

  #openEncoder(): void {
    const codec = Codec.findEncoder(AV_CODEC_ID_AAC)
    if (!codec) throw new AppError('internal', 'expected FFmpeg to have an AAC encoder')
    const encoder = this.#encoder
    encoder.allocContext3(codec)
    encoder.sampleRate = transcodedSampleRate
    encoder.sampleFormat = AV_SAMPLE_FMT_FLTP
    encoder.channelLayout = AV_CHANNEL_LAYOUT_MONO
    encoder.bitRate = BigInt(bitsPerSecond)
    encoder.timeBase = new Rational(1, transcodedSampleRate)
    encoder.threadCount = 1
    encoder.setOption('aac_coder', 'fast')
    check(encoder.open2Sync(codec), 'open the AAC encoder')
    this.#packet.alloc()
  }

  #receive(): EncodedBlock | undefined {
    const result = this.#encoder.receivePacketSync(this.#packet)
    if (result === AVERROR_EAGAIN) return undefined
    check(result, 'take the AAC block')
    try {
      // The first block precedes the first chunk. Decoders need it to start.
      const blockIndex = Number(this.#packet.pts) / blockSamples
      if (blockIndex < 0) return undefined
      this.#numbers.splice(0, blockIndex - this.#lastBlockIndex)
      this.#lastBlockIndex = blockIndex
      return { number: this.#numbers[0] ?? 0, data: new Uint8Array(this.#packet.data ?? []) }
    } finally {
      this.#packet.unref()
    }
  }
}

type SampleDecoder = Disposable & { decode(data: Uint8Array): Float32Array }

function createSampleDecoder(coding: TelephoneCoding): SampleDecoder {
  if (coding === 'pcmu') return new TableDecoder(muLawTable)
  if (coding === 'pcma') return new TableDecoder(aLawTable)
  return new G726Decoder(coding)
}

class TableDecoder implements SampleDecoder {
  readonly #table: G711Table

  constructor(table: G711Table) {
    this.#table = table
  }

  decode(data: Uint8Array): Float32Array {
    return Float32Array.from(data, (code) => this.#table[code]!)
  }

  [Symbol.dispose](): void {}
}

class G726Decoder implements SampleDecoder {
  readonly #context = new CodecContext()
  readonly #packet = new Packet()
  readonly #frame = new Frame()

  constructor(coding: TelephoneCoding) {
    const codec = Codec.findDecoder(coding.startsWith('aal2') ? AV_CODEC_ID_ADPCM_G726 : AV_CODEC_ID_ADPCM_G726LE)
    if (!codec) throw new AppError('internal', 'expected FFmpeg to have a G.726 decoder')
    this.#context.allocContext3(codec)
    this.#context.sampleRate = 8000
    this.#context.channelLayout = AV_CHANNEL_LAYOUT_MONO
    this.#context.bitsPerCodedSample = bitsPerSample(coding)
    this.#context.threadCount = 1
    check(this.#context.open2Sync(codec), 'open the G.726 decoder')
    this.#packet.alloc()
    this.#frame.alloc()
  }

  decode(data: Uint8Array): Float32Array {
    try {
      this.#packet.data = Buffer.from(data)
      check(this.#context.sendPacketSync(this.#packet), `decode ${data.length} bytes of G.726`)
      check(this.#context.receiveFrameSync(this.#frame), `decode ${data.length} bytes of G.726`)
      const { buffer, byteOffset } = this.#frame.data![0]!
      return Float32Array.from(new Int16Array(buffer, byteOffset, this.#frame.nbSamples), (sample) => sample / 32768)
    } finally {
      this.#packet.unref()
      this.#frame.unref()
    }
  }

  [Symbol.dispose](): void {
    this.#context.freeContext()
    this.#packet.free()
    this.#frame.free()
  }
}

function check(result: number, what: string): void {
  if (result < 0) throw new AppError('corrupt', `could not ${what}: ${new FFmpegError(result).message}`)
}
