// RTP payloads -> AAC blocks (RFC 3640, modes AAC-hbr and AAC-lbr, whose AU headers hold size and index). A packet
// holds several blocks, or a block spans several packets. Interleaved blocks (index above 0) are not supported and are
// dropped. Some cameras put the header of a transport stream (ADTS) before each block, which is removed, also in place
// of the AU headers.

import type { Deviation } from '../../base/deviation.ts'
import { AppError } from '../../base/error.ts'
import { findAdtsHeader } from './adts-header.ts'

/** Widths of the AU header fields in bits, from `a=fmtp`. */
export type AacHeaderSizes = {
  readonly sizeLength: number
  readonly indexLength: number
  readonly indexDeltaLength: number
}

/** @throws AppError 'invalid' when the stream uses optional fields that are not supported */
export function parseAacHeaderSizes(parameters: ReadonlyMap<string, string>): AacHeaderSizes {
  const read = (name: string) => {
    const text = parameters.get(name) ?? '0'
    if (!/^\d{1,2}$/.test(text) || Number(text) > 32) throw new AppError('invalid', `AAC: unexpected ${name}`)
    return Number(text)
  }
  const optional = ['ctsdeltalength', 'dtsdeltalength', 'randomaccessindication', 'streamstateindication']
  for (const name of [...optional, 'auxiliarydatasizelength']) {
    if (read(name) !== 0) throw new AppError('invalid', `AAC: ${name} is not supported`)
  }
  const sizes = {
    sizeLength: read('sizelength'),
    indexLength: read('indexlength'),
    indexDeltaLength: read('indexdeltalength'),
  }
  if (sizes.sizeLength === 0) throw new AppError('invalid', 'AAC: a stream without AU headers is not supported')
  return sizes
}

/**
 * `index` is the position of the block in its packet. The time of the block is the time of the packet plus `index`
 * blocks.
 */
export type AacBlockHandler = (data: Uint8Array, timestamp: number, index: number) => void

const maxBlockBytes = 8192

export class AacDepacketizer {
  readonly counters = { badPayloads: 0, droppedBlocks: 0 }
  readonly #sizes: AacHeaderSizes
  readonly #onBlock: AacBlockHandler
  readonly #onDeviation: ((deviation: Deviation) => void) | undefined
  /** The fragmented block that is being reassembled; its first `#partBytes` bytes are filled. */
  #part: Uint8Array | undefined
  #partBytes = 0
  #partTimestamp = 0

  constructor(sizes: AacHeaderSizes, onBlock: AacBlockHandler, onDeviation?: (deviation: Deviation) => void) {
    this.#sizes = sizes
    this.#onBlock = onBlock
    this.#onDeviation = onDeviation
  }

  /** Reports that packets are missing before the next payload. */
  markLoss(): void {
    if (this.#part) this.counters.droppedBlocks++
    this.#part = undefined
  }

  /** Takes the payload `bytes[start, end)` of one packet. Never throws on bytes that a camera sends. */
  push(bytes: Uint8Array, start: number, end: number, timestamp: number): void {
    if (this.#takeBlocks(bytes, start, end, timestamp)) return
    if (!this.#part && this.#takeTransportBlocks(bytes.subarray(start, end), timestamp)) return
    this.#reject()
  }

  /** Takes whole blocks with ADTS headers and without AU headers. Returns false when that is not what the bytes are. */
  #takeTransportBlocks(bytes: Uint8Array, timestamp: number): boolean {
    const blocks: Uint8Array[] = []
    for (let at = 0; at < bytes.length; ) {
      const header = findAdtsHeader(bytes.subarray(at))
      if (!header || header.blockBytes > bytes.length - at) return false
      blocks.push(bytes.slice(at + header.headerBytes, at + header.blockBytes))
      at += header.blockBytes
    }
    if (blocks.length > 0) this.#onDeviation?.('transport_headers')
    for (const [index, block] of blocks.entries()) this.#onBlock(block, timestamp, index)
    return blocks.length > 0
  }

  /** Returns false when the payload violates the format. */
  #takeBlocks(bytes: Uint8Array, start: number, end: number, timestamp: number): boolean {
    const headerBits = end - start < 2 ? 0 : (bytes[start]! << 8) | bytes[start + 1]!
    const { sizeLength, indexLength, indexDeltaLength } = this.#sizes
    let at = start + 2 + ((headerBits + 7) >> 3)
    if (headerBits < sizeLength + indexLength || at > end) return false
    let bit = (start + 2) * 8
    const headerEnd = bit + headerBits
    for (let index = 0; ; index++) {
      const indexBits = index === 0 ? indexLength : indexDeltaLength
      if (bit + sizeLength + indexBits > headerEnd) return true
      const size = readBits(bytes, bit, sizeLength)
      const isInterleaved = readBits(bytes, bit + sizeLength, indexBits) !== 0
      if (isInterleaved || size === 0 || size > maxBlockBytes) return false
      bit += sizeLength + indexBits
      if (size > end - at) return index === 0 && this.#takePart(bytes, at, end, size, timestamp)
      if (this.#part) this.markLoss()
      this.#onBlock(this.#withoutAdtsHeader(bytes.slice(at, at + size)), timestamp, index)
      at += size
    }
  }

  #takePart(bytes: Uint8Array, start: number, end: number, size: number, timestamp: number): boolean {
    if (this.#part && (this.#part.length !== size || this.#partTimestamp !== timestamp)) this.markLoss()
    if (!this.#part) {
      this.#part = new Uint8Array(size)
      this.#partBytes = 0
      this.#partTimestamp = timestamp
    }
    if (this.#partBytes + end - start > size) return false
    this.#part.set(bytes.subarray(start, end), this.#partBytes)
    this.#partBytes += end - start
    if (this.#partBytes < size) return true
    const data = this.#part
    this.#part = undefined
    this.#onBlock(this.#withoutAdtsHeader(data), timestamp, 0)
    return true
  }

  /** A block may begin like a header by chance, but not with its own length. */
  #withoutAdtsHeader(block: Uint8Array): Uint8Array {
    const header = findAdtsHeader(block)
    if (header?.blockBytes !== block.length) return block
    this.#onDeviation?.('transport_headers')
    return block.subarray(header.headerBytes)
  }

  #reject(): void {
    this.counters.badPayloads++
    this.markLoss()
  }
}

export function readBits(bytes: Uint8Array, at: number, count: number): number {
  let value = 0
  for (let i = at; i < at + count; i++) value = value * 2 + ((bytes[i >> 3]! >> (7 - (i & 7))) & 1)
  return value
}
