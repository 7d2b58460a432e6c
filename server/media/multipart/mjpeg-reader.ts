// Extracts frames from the response of an HTTP camera: `multipart/x-mixed-replace` (RFC 2046 5.1) with one part per
// frame, or consecutive JPEG files.
//
// Boundaries are ignored: cameras announce one and send another, omit the first one, or quote it. A frame is found by
// its own markers (ITU-T T.81 B.1). The Content-Length of its part only speeds up finding its end, as long as it proves
// correct.

import { jpegMarker } from '../jpeg/jpeg-header.ts'

export type MjpegReaderOptions = {
  /** Called with a JPEG file from FF D8 to FF D9, which the receiver owns. */
  onFrame(jpeg: Uint8Array): void
  /** Larger frames are dropped. */
  readonly maxFrameBytes?: number
}

/** The part header is searched in this many bytes before the frame. */
const maxHeadBytes = 4096

/** Bytes after a frame that some cameras include in its length, and their maximum number. */
const fillers: readonly number[] = [0, 0x0a, 0x0d]
const maxFiller = 64

/** The bytes that every frame begins with. The third one is the start of the first marker after FF D8. */
const start = [0xff, jpegMarker.startOfImage, 0xff] as const

export class MjpegReader {
  /** Frames that began but were not delivered because they were truncated, broken or too large. */
  badFrames = 0
  /** Bytes received since the last complete frame. */
  bytesSinceFrame = 0
  readonly #onFrame: (jpeg: Uint8Array) => void
  readonly #maxFrameBytes: number
  #bytes = new Uint8Array(64 * 1024)
  #end = 0
  /** Where the last frame ended. The header of the next one may begin here. */
  #headAt = 0
  /** Where the current frame begins, or -1. */
  #frameAt = -1
  /** How far the current frame has been parsed or, between frames, the bytes have been searched. */
  #at = 0
  #isInScan = false
  /** The length from the part header; 0 when there is none or when it is not trusted. */
  #announcedBytes = 0
  #areLengthsTrusted = true

  constructor({ onFrame, maxFrameBytes = 8 * 1024 * 1024 }: MjpegReaderOptions) {
    this.#onFrame = onFrame
    this.#maxFrameBytes = maxFrameBytes
  }

  /**
   * Takes any part of the stream. The bytes may be overwritten after the call. Never throws on bytes that a camera
   * sends.
   */
  push(bytes: Uint8Array): void {
    this.bytesSinceFrame += bytes.length
    this.#append(bytes)
    while (this.#frameAt >= 0 ? this.#continueFrame() : this.#findFrame());
    this.#discardConsumed()
  }

  /** Returns true when a frame begins. */
  #findFrame(): boolean {
    const found = indexOfStart(this.#bytes, this.#at, this.#end)
    if (found < 0) {
      this.#at = Math.max(this.#at, this.#end - start.length + 1)
      return false
    }
    this.#begin(found)
    if (!this.#areLengthsTrusted) return true
    const head = latin1(this.#bytes.subarray(Math.max(this.#headAt, found - maxHeadBytes), found))
    const length = Number([...head.matchAll(/content-length[ \t]*:[ \t]*(\d{1,9})[ \t]*\r?\n/gi)].at(-1)?.[1])
    if (length > start.length && length <= this.#maxFrameBytes) this.#announcedBytes = length
    return true
  }

  #begin(at: number): void {
    this.#frameAt = at
    this.#at = at + 2
    this.#isInScan = false
    this.#announcedBytes = 0
  }

  /** Returns true when the frame was delivered or dropped, false when more bytes are needed. */
  #continueFrame(): boolean {
    if (this.#announcedBytes > 0) {
      const isKnown = this.#checkAnnounced()
      if (isKnown !== undefined) return isKnown
    }
    if (this.#end - this.#frameAt > this.#maxFrameBytes) return this.#drop(this.#end)
    for (;;) {
      const isOver = this.#isInScan ? this.#followScan() : this.#followSegments()
      if (isOver !== undefined) return isOver
    }
  }

  /**
   * Returns true when the frame is as long as announced, false when it is incomplete, and undefined when it must be
   * parsed to find its end.
   */
  #checkAnnounced(): boolean | undefined {
    const end = this.#frameAt + this.#announcedBytes
    if (end > this.#end) return false
    // Some cameras count the line end after the frame, or pad with zeros.
    let last = end
    while (last > end - maxFiller && fillers.includes(this.#bytes[last - 1]!)) last--
    if (this.#bytes[last - 2] === 0xff && this.#bytes[last - 1] === jpegMarker.endOfImage) {
      this.#deliver(last)
      return true
    }
    // The frame has no end marker. It is accepted as it is if the next part begins where it should.
    if (end + 4 > this.#end) return false
    const startsNextPart = /^(?:\r?\n)?--/.test(latin1(this.#bytes.subarray(end, end + 4)))
    if (startsNextPart) {
      this.#deliver(end)
      return true
    }
    this.#announcedBytes = 0
    this.#areLengthsTrusted = false
    return undefined
  }

  /**
   * Parses segments up to the next scan; thumbnails inside segments are skipped. Returns undefined when the scan is
   * reached.
   */
  #followSegments(): boolean | undefined {
    const bytes = this.#bytes
    while (this.#at + 3 < this.#end) {
      if (bytes[this.#at] !== 0xff) return this.#drop(this.#at)
      const marker = bytes[this.#at + 1]!
      // A marker may be preceded by any number of fill bytes.
      if (marker === 0xff) {
        this.#at++
        continue
      }
      const length = (bytes[this.#at + 2]! << 8) | bytes[this.#at + 3]!
      if (marker < 0xc0 || marker === jpegMarker.startOfImage || marker === jpegMarker.endOfImage || length < 2) {
        return this.#drop(this.#at)
      }
      if (this.#at + 2 + length > this.#end) return false
      this.#at += 2 + length
      if (marker === jpegMarker.startOfScan) {
        this.#isInScan = true
        return undefined
      }
    }
    return false
  }

  /** Searches for the end of the frame. Returns undefined when tables and another scan follow. */
  #followScan(): boolean | undefined {
    const bytes = this.#bytes
    for (;;) {
      const offset = bytes.subarray(this.#at, this.#end).indexOf(0xff)
      const found = offset < 0 ? this.#end : this.#at + offset
      if (found + 1 >= this.#end) {
        this.#at = found
        return false
      }
      const marker = bytes[found + 1]!
      this.#at = found + 2
      if (marker === jpegMarker.endOfImage) {
        this.#deliver(found + 2)
        return true
      }
      // The frame is truncated and the next one begins.
      if (marker === jpegMarker.startOfImage) return this.#drop(found)
      const isData = marker === 0 || (marker >= 0xd0 && marker <= 0xd7)
      if (marker === 0xff) this.#at = found + 1
      else if (!isData) {
        // Tables and the next scan of a progressive JPEG.
        this.#at = found
        this.#isInScan = false
        return undefined
      }
    }
  }

  #deliver(end: number): void {
    const jpeg = this.#bytes.slice(this.#frameAt, end)
    this.#frameAt = -1
    this.#at = end
    this.#headAt = end
    this.bytesSinceFrame = this.#end - end
    this.#onFrame(hasEnd(jpeg) ? jpeg : withEnd(jpeg))
  }

  #drop(at: number): true {
    this.badFrames++
    // The header of the next part lies after the start of this frame, however early the frame was truncated.
    this.#headAt = this.#frameAt
    this.#frameAt = -1
    this.#at = at
    return true
  }

  /** Discards bytes before the current frame, or before a possible header of the next one. */
  #discardConsumed(): void {
    const keepFrom = this.#frameAt >= 0 ? this.#frameAt : Math.max(0, this.#at - maxHeadBytes)
    if (keepFrom === 0) return
    this.#bytes.copyWithin(0, keepFrom, this.#end)
    this.#end -= keepFrom
    this.#at -= keepFrom
    this.#headAt = Math.max(0, this.#headAt - keepFrom)
    if (this.#frameAt >= 0) this.#frameAt -= keepFrom
  }

  #append(bytes: Uint8Array): void {
    const length = this.#end + bytes.length
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(length + (length >> 1))
      larger.set(this.#bytes.subarray(0, this.#end))
      this.#bytes = larger
    }
    this.#bytes.set(bytes, this.#end)
    this.#end = length
  }
}

function indexOfStart(bytes: Uint8Array, from: number, end: number): number {
  const searched = bytes.subarray(from, end)
  for (let at = searched.indexOf(start[0]); at >= 0; at = searched.indexOf(start[0], at + 1)) {
    if (searched[at + 1] === start[1] && searched[at + 2] === start[2]) return from + at
  }
  return -1
}

function hasEnd(jpeg: Uint8Array): boolean {
  return jpeg.at(-2) === 0xff && jpeg.at(-1) === jpegMarker.endOfImage
}

function withEnd(jpeg: Uint8Array): Uint8Array {
  const whole = new Uint8Array(jpeg.length + 2)
  whole.set(jpeg)
  whole.set([0xff, jpegMarker.endOfImage], jpeg.length)
  return whole
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}
