// RTP payloads -> JPEG files (RFC 2435). The payload contains the scan data. The file header is rebuilt from the
// payload headers: size, subsampling, restart interval, and quantization tables or the quality that they are computed
// from.
//
// Every frame is independent: a lost packet drops its own frame only.

import type { PictureOrder } from '../frame.ts'
import type { VideoCounters, VideoDepacketizer, VideoSink } from '../video-depacketizer.ts'
import { type Quantizers, type ScanHead, writeScanHead } from './jpeg-head.ts'
import { createJpegFormat, type JpegSegments, jpegMarker, parseJpegHeader, readJpegSegments } from './jpeg-header.ts'
import { coefficients, createQuantizers } from './jpeg-tables.ts'

export type JpegDepacketizerOptions = {
  /**
   * Size from the session description, for frames of more than 2040 pixels, which the payload header cannot express.
   */
  readonly size?: { readonly width: number; readonly height: number } | undefined
  readonly maxFrameBytes?: number
}

const mainHeaderBytes = 8
const restartHeaderBytes = 4
const quantizerHeaderBytes = 4
const firstCapacity = 64 * 1024
/** The start marker of a JPEG file, in whose place the header extension stands. */
const segmentsProfile = 0xffd8
const inOrder: PictureOrder = { depth: 0, maxDepth: 0, frameRate: undefined }

export class JpegDepacketizer implements VideoDepacketizer {
  readonly counters: VideoCounters = { frames: 0, droppedFrames: 0, losses: 0, badPayloads: 0 }
  readonly hasParameterSets = true
  readonly #sink: VideoSink
  readonly #size: JpegDepacketizerOptions['size']
  readonly #maxFrameBytes: number
  /** From the header extension of the packet that comes next. */
  #segments: JpegSegments | undefined
  /** Quantization tables by their `Q` value, 128 to 255 (4.2). */
  readonly #quantizers = new Map<number, Quantizers>()
  #head: { readonly scan: ScanHead; readonly q: number; readonly bytes: Uint8Array } | undefined
  #shown = { width: 0, height: 0 }
  /** The frame being collected: its header, then the scan data received so far. */
  #buffer = new Uint8Array(firstCapacity)
  #frameBytes = 0
  #headBytes = 0
  #timestamp = Number.NaN
  #isDamaged = false

  constructor(sink: VideoSink, { size, maxFrameBytes = 8 * 1024 * 1024 }: JpegDepacketizerOptions = {}) {
    this.#sink = sink
    this.#size = size
    this.#maxFrameBytes = maxFrameBytes
  }

  takeParameterSet(): void {}

  markLoss(): void {
    this.counters.losses++
    this.#isDamaged = true
  }

  /** Segments of the file that the payload has no room for: a size beyond 2040 pixels (ONVIF Streaming 5.1.4.1). */
  takeExtension(profile: number, bytes: Uint8Array, start: number, end: number): void {
    if (profile === segmentsProfile) this.#segments = readJpegSegments(bytes.subarray(start, end))
  }

  push(bytes: Uint8Array, start: number, end: number, timestamp: number, isMarked: boolean): void {
    if (timestamp !== this.#timestamp) {
      // Some senders set no marker. Without a loss in between, the frame is complete.
      if (this.#frameBytes > 0) this.#end()
      this.#timestamp = timestamp
    }
    if (!this.#takePayload(bytes, start, end)) this.counters.badPayloads++
    this.#segments = undefined
    if (isMarked) this.#end()
  }

  /** Returns false when the payload violates the format. */
  #takePayload(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start < mainHeaderBytes) return this.#markIncomplete()
    const offset = (bytes[start + 1]! << 16) | (bytes[start + 2]! << 8) | bytes[start + 3]!
    const type = bytes[start + 4]!
    const q = bytes[start + 5]!
    let at = start + mainHeaderBytes
    let restartInterval = 0
    if (type >= 64 && type <= 127) {
      if (end - at < restartHeaderBytes) return this.#markIncomplete()
      restartInterval = (bytes[at]! << 8) | bytes[at + 1]!
      at += restartHeaderBytes
    }
    if (offset === 0) {
      if (this.#frameBytes > 0) this.#end()
      // Packets that were lost before the first packet of a frame belong to the previous frame.
      this.#isDamaged = false
      const dataStart = this.#readQuantizers(bytes, at, end, q)
      const isKnown = dataStart >= 0 && (type & ~64) <= 1
      if (!isKnown || !this.#begin(bytes, start, q, { isHalfHeight: (type & 1) === 1, restartInterval })) {
        return this.#markIncomplete()
      }
      at = dataStart
    } else if (offset !== this.#frameBytes - this.#headBytes || this.#frameBytes === 0) {
      this.#isDamaged = true
      return true // the missing packets were counted when they were lost
    }
    return this.#append(bytes, at, end)
  }

  /** Returns where the scan data begins, or -1 when there are no tables for this `Q`. */
  #readQuantizers(bytes: Uint8Array, start: number, end: number, q: number): number {
    if (q < 128) return start
    if (end - start < quantizerHeaderBytes) return -1
    const length = (bytes[start + 2]! << 8) | bytes[start + 3]!
    const dataStart = start + quantizerHeaderBytes + length
    if (dataStart > end) return -1
    const known = this.#quantizers.get(q)
    const tables = bytes.subarray(start + quantizerHeaderBytes, dataStart)
    const precision = bytes[start + 1]!
    if (length >= coefficients && !(known?.precision === precision && isEqual(known.bytes, tables))) {
      this.#quantizers.set(q, { bytes: tables.slice(), precision })
      this.#head = undefined
    }
    return this.#quantizers.has(q) || this.#segments?.quantizers ? dataStart : -1
  }

  /**
   * Writes the header of the frame, or copies the previous one when nothing changed. Returns false when the size is
   * unknown.
   */
  #begin(
    bytes: Uint8Array,
    start: number,
    q: number,
    kind: Pick<ScanHead, 'isHalfHeight' | 'restartInterval'>,
  ): boolean {
    const segments = this.#segments
    const width = segments?.size?.width ?? sizeOf(bytes[start + 6]!, this.#size?.width)
    const height = segments?.size?.height ?? sizeOf(bytes[start + 7]!, this.#size?.height)
    if (!width || !height) return false
    let written: Uint8Array | undefined
    const before = this.#head?.scan
    const isSame =
      !segments &&
      this.#head?.q === q &&
      before?.width === width &&
      before.height === height &&
      before.isHalfHeight === kind.isHalfHeight &&
      before.restartInterval === kind.restartInterval
    if (!isSame) {
      const quantizers = segments?.quantizers ?? this.#quantizers.get(q) ?? { bytes: createQuantizers(q), precision: 0 }
      const scan = { width, height, ...kind, quantizers }
      const head = { scan, q, bytes: writeScanHead(scan) }
      // One that needs an extension is not right for a frame without.
      this.#head = segments ? undefined : head
      written = head.bytes
    }
    const head = written ?? this.#head!.bytes
    this.#frameBytes = 0
    this.#headBytes = head.length
    return this.#append(head, 0, head.length)
  }

  #append(bytes: Uint8Array, start: number, end: number): boolean {
    const needed = this.#frameBytes + end - start
    if (needed > this.#maxFrameBytes) return this.#markIncomplete()
    if (needed > this.#buffer.length) {
      const larger = new Uint8Array(Math.min(this.#maxFrameBytes + 2, needed + (needed >> 1)))
      larger.set(this.#buffer.subarray(0, this.#frameBytes))
      this.#buffer = larger
    }
    this.#buffer.set(bytes.subarray(start, end), this.#frameBytes)
    this.#frameBytes = needed
    return true
  }

  #end(): void {
    if (this.#frameBytes === 0 || this.#isDamaged) {
      this.#drop()
      return
    }
    const jpeg = this.#take()
    const size = this.#sizeOf(jpeg)
    this.counters.frames++
    if (!size) {
      this.counters.losses++
      this.counters.badPayloads++
      this.counters.droppedFrames++
      return
    }
    const { width, height } = size
    if (width !== this.#shown.width || height !== this.#shown.height) {
      this.#shown = { width, height }
      this.#sink.onFormat(createJpegFormat(this.#shown), inOrder)
    }
    this.#sink.onFrame(jpeg, this.#timestamp, true)
  }

  /**
   * Returns the frame with its end marker in its own memory. The buffer is kept because the next frame is probably as
   * large.
   */
  #take(): Uint8Array {
    const bytes = this.#frameBytes
    const hasEnd = this.#buffer[bytes - 2] === 0xff && this.#buffer[bytes - 1] === jpegMarker.endOfImage
    this.#append(Uint8Array.of(0xff, jpegMarker.endOfImage), 0, hasEnd ? 0 : 2)
    // Some cameras send a whole JPEG file in place of the scan data.
    const isFile =
      this.#buffer[this.#headBytes] === 0xff && this.#buffer[this.#headBytes + 1] === jpegMarker.startOfImage
    const jpeg = this.#buffer.slice(isFile ? this.#headBytes : 0, this.#frameBytes)
    this.#frameBytes = 0
    return jpeg
  }

  #sizeOf(jpeg: Uint8Array): { width: number; height: number } | undefined {
    try {
      return parseJpegHeader(jpeg)
    } catch {
      return undefined
    }
  }

  #drop(): void {
    this.#frameBytes = 0
    this.#isDamaged = false
    this.counters.losses++
    this.counters.frames++
    this.counters.droppedFrames++
  }

  /** Marks the frame as incomplete. Always returns false. */
  #markIncomplete(): false {
    this.#isDamaged = true
    return false
  }
}

/**
 * The size in pixels of which a packet tells eighths in one byte. A larger one is 0 there, or without its upper bits;
 * then it is that of the session description, if there is one.
 */
function sizeOf(eighths: number, described: number | undefined): number | undefined {
  const isDescribed = described !== undefined && (eighths === 0 || (Math.ceil(described / 8) & 0xff) === eighths)
  return isDescribed ? described : eighths * 8
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}
