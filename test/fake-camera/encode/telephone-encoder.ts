// Audio to the telephone codings of older cameras: G.711 by the service's own tables, G.726 with the encoder in FFmpeg.

import {
  AV_CHANNEL_LAYOUT_MONO,
  AV_CODEC_ID_ADPCM_G726LE,
  AV_SAMPLE_FMT_S16,
  Codec,
  CodecContext,
  FFmpegError,
  Frame,
  Packet,
  Rational,
} from 'node-av'
import { aLawTable, muLawTable } from '../../../server/media/telephony/g711.ts'
import { bitsPerSample, type TelephoneCoding } from '../../../server/media/telephony/telephone-coding.ts'
import type { BlockEncoder, EncodedBlock } from './audio-encoder.ts'

const sampleRate = 8000

/** 20 ms, as cameras send. */
const samplesPerBlock = 160

export class TelephoneEncoder implements BlockEncoder {
  readonly sampleRate = sampleRate
  readonly samplesPerBlock = samplesPerBlock
  readonly config = new Uint8Array()
  readonly #encode: (samples: Float32Array) => Uint8Array
  readonly #dispose: () => void
  #sampleCount = 0

  constructor(coding: TelephoneCoding) {
    const g726 = coding === 'pcmu' || coding === 'pcma' ? undefined : new G726Encoder(coding)
    const codes = createCodes(coding === 'pcmu' ? muLawTable : aLawTable)
    this.#encode = (samples) =>
      g726 ? g726.encode(samples) : Uint8Array.from(samples, (value) => codes[Math.round(value * 32767) + 32768]!)
    this.#dispose = () => g726?.[Symbol.dispose]()
  }

  encode(samples: Float32Array): EncodedBlock {
    const firstSample = this.#sampleCount
    this.#sampleCount += samples.length
    return { data: this.#encode(samples), firstSample }
  }

  [Symbol.dispose](): void {
    this.#dispose()
  }
}

/** The nearest code of each 16-bit value. */
function createCodes(table: Float32Array): Uint8Array {
  const sorted = [...table].map((value, code) => ({ value: value * 32768, code })).sort((a, b) => a.value - b.value)
  let at = 0
  return Uint8Array.from({ length: 65_536 }, (_, i) => {
    const value = i - 32768
    while (at + 1 < sorted.length && sorted[at + 1]!.value - value <= value - sorted[at]!.value) at++
    return sorted[at]!.code
  })
}

class G726Encoder implements Disposable {
  readonly #context = new CodecContext()
  readonly #packet = new Packet()
  #count = 0n

  constructor(coding: TelephoneCoding) {
    const codec = Codec.findEncoder(AV_CODEC_ID_ADPCM_G726LE)
    if (!codec) throw new Error('no G.726 encoder in this build of FFmpeg')
    this.#context.allocContext3(codec)
    this.#context.sampleRate = sampleRate
    this.#context.sampleFormat = AV_SAMPLE_FMT_S16
    this.#context.channelLayout = AV_CHANNEL_LAYOUT_MONO
    this.#context.timeBase = new Rational(1, sampleRate)
    this.#context.bitRate = BigInt(bitsPerSample(coding) * sampleRate)
    FFmpegError.throwIfError(this.#context.open2Sync(codec), 'open the G.726 encoder')
    // It asks for a quarter of a second, and takes any length.
    this.#context.frameSize = samplesPerBlock
    this.#packet.alloc()
  }

  encode(samples: Float32Array): Uint8Array {
    const linear = Int16Array.from(samples, (value) => Math.round(value * 32767))
    using frame = Frame.fromAudioBuffer(Buffer.from(linear.buffer), {
      nbSamples: linear.length,
      format: AV_SAMPLE_FMT_S16,
      sampleRate,
      channelLayout: AV_CHANNEL_LAYOUT_MONO,
      timeBase: { num: 1, den: sampleRate },
      pts: this.#count,
    })
    this.#count += BigInt(linear.length)
    FFmpegError.throwIfError(this.#context.sendFrameSync(frame), 'encode audio')
    FFmpegError.throwIfError(this.#context.receivePacketSync(this.#packet), 'encode audio')
    const data = new Uint8Array(this.#packet.data ?? [])
    this.#packet.unref()
    return data
  }

  [Symbol.dispose](): void {
    this.#packet.free()
    this.#context.freeContext()
  }
}
