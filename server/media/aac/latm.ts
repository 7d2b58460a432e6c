// RTP payloads -> AAC blocks for MP4A-LATM (RFC 6416 section 6): each payload is an AudioMuxElement (ISO/IEC 14496-3
// 1.7.3) or a part of one. Older cameras send AAC like this. Streams with more than one program or layer, and with
// other lengths than those in the element, are not supported: no camera is known to send them.

import { AppError } from '../../base/error.ts'
import { type AacBlockHandler, readBits } from './depacketizer.ts'

type StreamMux = {
  /** audioMuxVersion */
  readonly version: number
  /** AudioSpecificConfig. */
  readonly config: Uint8Array
  /** Blocks in each element. */
  readonly blocks: number
}

export type LatmParameters = StreamMux & {
  /** Each element says whether it follows the known configuration or brings one. */
  readonly isConfigInBand: boolean
}

const maxElementBytes = 16_384
const maxBlockBytes = 8192

/**
 * Reads `a=fmtp`.
 *
 * @throws AppError 'corrupt'; 'invalid' for what is not supported
 */
export function parseLatmParameters(parameters: ReadonlyMap<string, string>): LatmParameters {
  const config = new Uint8Array(Buffer.from(parameters.get('config') ?? '', 'hex'))
  if (config.length === 0) throw new AppError('invalid', 'AAC: a LATM stream without a configuration is not supported')
  const reader = new BitReader(config)
  const mux = readStreamMux(reader)
  try {
    readLengths(reader, mux)
  } catch (error) {
    // GStreamer ends here.
    if (!(error instanceof EndOfBits)) throw error
  }
  return { ...mux, isConfigInBand: parameters.get('cpresent') !== '0' }
}

export class LatmDepacketizer {
  readonly counters = { badPayloads: 0, droppedBlocks: 0 }
  readonly #isConfigInBand: boolean
  readonly #onBlock: AacBlockHandler
  #blocks: number
  /** The beginning of an element that spans several packets. */
  #part: Uint8Array | undefined
  #partTimestamp = 0

  constructor({ blocks, isConfigInBand }: Pick<LatmParameters, 'blocks' | 'isConfigInBand'>, onBlock: AacBlockHandler) {
    this.#blocks = blocks
    this.#isConfigInBand = isConfigInBand
    this.#onBlock = onBlock
  }

  /** Reports that packets are missing before the next payload. */
  markLoss(): void {
    if (this.#part) this.counters.droppedBlocks++
    this.#part = undefined
  }

  /** Takes the payload `bytes[start, end)` of one packet. Never throws on bytes that a camera sends. */
  push(bytes: Uint8Array, start: number, end: number, timestamp: number): void {
    if (this.#part && this.#partTimestamp !== timestamp) this.markLoss()
    const payload = bytes.subarray(start, end)
    const element = this.#part ? Buffer.concat([this.#part, payload]) : payload
    this.#part = undefined
    const blocks = this.#readElement(element)
    if (blocks) {
      for (const [index, block] of blocks.entries()) this.#onBlock(block, timestamp, index)
    } else if (blocks === undefined && element.length <= maxElementBytes) {
      this.#part = new Uint8Array(element) // a copy
      this.#partTimestamp = timestamp
    } else this.counters.badPayloads++
  }

  /** Returns undefined if the element goes on behind its bytes, and false if it violates the format. */
  #readElement(element: Uint8Array): Uint8Array[] | undefined | false {
    const reader = new BitReader(element)
    try {
      // useSameStreamMux
      if (this.#isConfigInBand && reader.read(1) === 0) {
        const mux = readStreamMux(reader)
        readLengths(reader, mux)
        this.#blocks = mux.blocks
      }
      const blocks: Uint8Array[] = []
      for (let i = 0; i < this.#blocks; i++) {
        let length = 0
        let byte: number
        do length += byte = reader.read(8)
        while (byte === 255)
        if (length === 0 || length > maxBlockBytes) return false
        blocks.push(reader.copy(length * 8))
      }
      return blocks
    } catch (error) {
      return error instanceof EndOfBits ? undefined : false
    }
  }
}

/** The beginning of StreamMuxConfig, up to the configuration of the only layer. */
function readStreamMux(reader: BitReader): StreamMux {
  const version = reader.read(1)
  if (version === 1 && reader.read(1) === 1) throw unsupported('an unknown version')
  if (version === 1) readValue(reader) // taraBufferFullness
  if (reader.read(1) === 0) throw unsupported('frames of different times')
  const blocks = reader.read(6) + 1
  if (reader.read(4) > 0 || reader.read(3) > 0) throw unsupported('several programs')
  const configBits = version === 1 ? readValue(reader) : undefined
  const config = configBits === undefined ? readAudioSpecificConfig(reader) : reader.copy(configBits)
  return { version, config, blocks }
}

/** The end of StreamMuxConfig, behind which an element goes on. */
function readLengths(reader: BitReader, { version }: StreamMux): void {
  if (reader.read(3) !== 0) throw unsupported('blocks of a fixed length')
  reader.read(8) // latmBufferFullness
  if (reader.read(1) === 1) {
    if (version === 1) readValue(reader)
    else while (reader.read(9) >= 256); // otherDataLenEsc, otherDataLenTmp
  }
  if (reader.read(1) === 1) reader.read(8) // crcCheckSum
}

const unsupported = (what: string) => new AppError('invalid', `AAC: a LATM stream with ${what} is not supported`)

/** LatmGetValue */
function readValue(reader: BitReader): number {
  let value = 0
  for (let bytes = reader.read(2); bytes >= 0; bytes--) value = value * 256 + reader.read(8)
  return value
}

/** It does not say how long it is. Its own fields: ISO/IEC 14496-3 1.6.2.1 and 4.4.1. */
function readAudioSpecificConfig(reader: BitReader): Uint8Array {
  const start = reader.at
  const readType = () => {
    const type = reader.read(5)
    return type === 31 ? 32 + reader.read(6) : type
  }
  const readRate = () => reader.read(4) === 15 && reader.read(24)
  let type = readType()
  readRate()
  reader.read(4)
  if (type === 5 || type === 29) {
    readRate()
    type = readType()
  }
  if (type < 1 || type > 4) throw new AppError('invalid', `AAC: a LATM stream of type ${type} is not supported`)
  reader.read(1) // frameLengthFlag
  if (reader.read(1) === 1) reader.read(14) // coreCoderDelay
  reader.read(1) // extensionFlag
  const bits = reader.at - start
  reader.at = start
  return reader.copy(bits)
}

class EndOfBits extends AppError {
  constructor() {
    super('corrupt', 'AAC: the configuration is too short')
  }
}

class BitReader {
  at = 0
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  read(count: number): number {
    if (this.at + count > this.#bytes.length * 8) throw new EndOfBits()
    const value = readBits(this.#bytes, this.at, count)
    this.at += count
    return value
  }

  /** The next bits, followed by zeros up to the next byte. */
  copy(count: number): Uint8Array {
    const { at } = this
    if (at + count > this.#bytes.length * 8) throw new EndOfBits()
    this.at += count
    if (at % 8 === 0 && count % 8 === 0) return this.#bytes.slice(at / 8, (at + count) / 8)
    const copy = new Uint8Array(Math.ceil(count / 8))
    for (let i = 0; i < copy.length; i++) {
      const bits = Math.min(8, count - i * 8)
      copy[i] = readBits(this.#bytes, at + i * 8, bits) << (8 - bits)
    }
    return copy
  }
}
