// Demultiplexes one container stream with FFmpeg (node-av). Runs only in a container process. FFmpeg gets bytes and
// their format. It probes nothing, and every URL it could open is forbidden.

import {
  AV_CODEC_ID_AAC,
  AV_NOPTS_VALUE,
  AV_PKT_DATA_NEW_EXTRADATA,
  AVERROR_EIO,
  AVERROR_EOF,
  AVFMT_FLAG_CUSTOM_IO,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_VIDEO,
} from 'node-av/constants'
import { avGetCodecName, FormatContext, InputFormat, IOContext, Packet, type Stream } from 'node-av/lib'
import { AppError } from '../../base/error.ts'
import { findAdtsHeader } from '../../media/aac/adts-header.ts'
import { parseAudioSpecificConfig } from '../../media/aac/audio-specific-config.ts'
import type { ContainerPacket } from '../../media/container/container-stream.ts'
import type { ContainerFormat } from '../../media/container/find-container.ts'
import type { ReportedEnd } from './container-protocol.ts'

const readBytes = 32 * 1024
/** Maximum number of bytes read without a packet. No frame is that large, so more would only fill the memory. */
const maxSilentBytes = 32 * 1024 * 1024
const maxStreams = 32

/** A packet and its stream. */
export type StreamPacket = ContainerPacket & { readonly stream: ContainerStream }

export class LibavContainer {
  readonly #context = new FormatContext()
  readonly #packet = new Packet()
  /** A reference that prevents garbage collection. */
  readonly #io = new IOContext()
  readonly #format: ContainerFormat
  readonly #streams = new Map<number, ContainerStream>()
  readonly #unwrap = createUnwrap()
  #silentBytes = 0
  #isSilentTooLong = false

  /** `read`: returns the next bytes, up to the given number, or undefined at the end. */
  constructor(format: ContainerFormat, read: (maxBytes: number) => Promise<Uint8Array | undefined>) {
    this.#format = format
    const io = this.#io
    io.allocContextWithCallbacks(readBytes, 0, async (maxBytes) => {
      this.#isSilentTooLong = this.#silentBytes > maxSilentBytes
      if (this.#isSilentTooLong) return AVERROR_EIO
      const bytes = await read(maxBytes)
      if (!bytes) return AVERROR_EOF
      this.#silentBytes += bytes.length
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    })
    const context = this.#context
    context.allocContext()
    context.pb = io
    context.setFlags(AVFMT_FLAG_CUSTOM_IO)
    context.maxStreams = maxStreams
    context.probesize = 1_000_000n
    context.maxAnalyzeDuration = 1_000_000n
    // The allow list of protocols is empty.
    setOption(context, 'protocol_whitelist', '')
    setOption(context, 'format_whitelist', format)
    // Otherwise FFmpeg would correct it once, not at every wrap.
    setOption(context, 'correct_ts_overflow', 0)
    this.#packet.alloc()
  }

  /** True when the container announces its streams at the start. */
  get isComplete(): boolean {
    return this.#format !== 'flv' && this.#context.nbStreams > 0
  }

  /** The first announced stream of this kind, whether or not it has had a packet. */
  findStream(kind: ContainerPacket['kind']): ContainerStream | undefined {
    const type = kind === 'video' ? AVMEDIA_TYPE_VIDEO : AVMEDIA_TYPE_AUDIO
    const found = this.#context.streams.find(({ codecpar }) => codecpar.codecType === type)
    return found && this.#streamOf(found.index)
  }

  /** Returns undefined on success. */
  async open(): Promise<ReportedEnd | undefined> {
    const format = InputFormat.findInputFormat(this.#format)
    if (!format) throw new AppError('internal', `expected FFmpeg to read ${this.#format}`)
    const result = await this.#context.openInput('', format)
    return result < 0 ? this.#describeEnd(result) : undefined
  }

  /** The next video or audio packet, or the reason why there is none. */
  async read(): Promise<StreamPacket | ReportedEnd> {
    for (;;) {
      const result = await this.#context.readFrame(this.#packet)
      // The incomplete packet of an endless frame is returned at the end.
      if (result < 0 || this.#isSilentTooLong) return this.#describeEnd(result)
      this.#silentBytes = 0
      try {
        const packet = this.#take(this.#packet)
        if (packet) return packet
      } finally {
        this.#packet.unref()
      }
    }
  }

  #take(packet: Packet): StreamPacket | ReportedEnd | undefined {
    const stream = this.#streamOf(packet.streamIndex)
    const data = packet.data
    if (!stream || !data || data.length === 0) return undefined
    const newConfig = packet.getSideData(AV_PKT_DATA_NEW_EXTRADATA)
    if (newConfig && !stream.isConfig(newConfig)) return { kind: 'changed' }
    const block = stream.takeBlock(data)
    if (block === 'changed') return { kind: 'changed' }
    if (!block) return undefined
    const { pts, dts } = packet
    const at = pts === AV_NOPTS_VALUE ? dts : pts
    const stated90k = at === AV_NOPTS_VALUE ? undefined : stream.toTicks(this.#unwrap(at, stream.wrapBits))
    return { kind: stream.kind, pts90k: stream.timeOf(stated90k), data: new Uint8Array(block), stream }
  }

  #streamOf(index: number): ContainerStream | undefined {
    const known = this.#streams.get(index)
    if (known) return known
    const stream = this.#context.streams[index]
    const type = stream?.codecpar.codecType
    if (!stream || (type !== AVMEDIA_TYPE_VIDEO && type !== AVMEDIA_TYPE_AUDIO)) return undefined
    const found = new ContainerStream(stream, type === AVMEDIA_TYPE_VIDEO ? 'video' : 'audio')
    this.#streams.set(index, found)
    return found
  }

  #describeEnd(result: number): ReportedEnd {
    if (this.#isSilentTooLong) return { kind: 'too_much' }
    return { kind: result === AVERROR_EOF ? 'ended' : 'unreadable' }
  }
}

/** One stream of a container: its codec configuration, and its packets in the form that the rest of the server uses. */
export class ContainerStream {
  readonly index: number
  readonly kind: ContainerPacket['kind']
  readonly codec: string
  readonly wrapBits: number
  readonly #stream: Stream
  readonly #num: bigint
  readonly #den: bigint
  /** AAC with its configuration in each block. */
  #adtsConfig: Uint8Array | undefined
  #blockTicks = 0
  /** Where the next block of audio with constant block length begins. */
  #next90k: number | undefined

  constructor(stream: Stream, kind: ContainerPacket['kind']) {
    this.#stream = stream
    this.kind = kind
    this.index = stream.index
    this.codec = avGetCodecName(stream.codecpar.codecId) ?? 'unknown'
    this.wrapBits = stream.ptsWrapBits
    this.#num = BigInt(stream.timeBase.num) * 90_000n
    this.#den = BigInt(stream.timeBase.den)
  }

  get config(): Uint8Array {
    return this.#adtsConfig ?? new Uint8Array(this.#stream.codecpar.extradata ?? [])
  }

  /** False for AAC without any block so far, if the container does not contain its configuration. */
  get isKnown(): boolean {
    return this.codec !== 'aac' || this.config.length > 0
  }

  get sampleRate(): number {
    return this.#stream.codecpar.sampleRate
  }

  get channels(): number {
    return this.#stream.codecpar.channels
  }

  isConfig(config: Uint8Array): boolean {
    return Buffer.compare(config, this.config) === 0
  }

  toTicks(at: bigint): number {
    return Number((at * this.#num) / this.#den)
  }

  /** Transport streams state the time of the first of several AAC blocks only. Call it once for each packet. */
  timeOf(stated90k: number | undefined): number | undefined {
    const at90k = stated90k ?? this.#next90k
    this.#next90k = at90k !== undefined && this.#blockTicks > 0 ? at90k + this.#blockTicks : undefined
    return at90k === undefined ? undefined : Math.round(at90k)
  }

  /** The data of the packet without the header that containers of AAC add. Undefined if it is damaged. */
  takeBlock(data: Uint8Array): Uint8Array | 'changed' | undefined {
    const { codecpar } = this.#stream
    if (codecpar.codecId !== AV_CODEC_ID_AAC || codecpar.extradataSize > 0) return data
    const header = findAdtsHeader(data)
    if (!header || header.blockBytes !== data.length) return undefined
    if (this.#adtsConfig && Buffer.compare(this.#adtsConfig, header.config) !== 0) return 'changed'
    this.#adtsConfig = header.config
    this.#blockTicks = (1024 * 90_000) / parseAudioSpecificConfig(header.config).sampleRate
    return data.subarray(header.headerBytes)
  }
}

/**
 * Continues counting where a counter with this many bits wraps. All streams share one, so that they stay on one time
 * axis.
 */
function createUnwrap(): (at: bigint, bits: number) => bigint {
  let last: bigint | undefined
  return (at, bits) => {
    if (bits >= 63) return at
    last = last === undefined ? at : last + BigInt.asIntN(bits, at - last)
    return last
  }
}

function setOption(context: FormatContext, name: string, value: string | number): void {
  if (context.setOption(name, value) < 0) throw new AppError('internal', `expected FFmpeg to know the option ${name}`)
}
