// Cuts pictures out of what an HTTP camera sends: `multipart/x-mixed-replace` (RFC 2046 5.1, one part for each picture), or JPEGs one after
// the other without anything between.
//
// Boundaries are not looked at: cameras announce one and send another, leave out the first, or quote it. A picture is found by its own
// markers (ITU-T T.81 B.1), which the length in the head of its part only makes quicker to follow, as long as that proves right.

import { jpegMarker } from '../jpeg/jpeg-header.ts'

export type MjpegReaderOptions = {
  /** A JPEG file from FF D8 to FF D9; nobody else has these bytes. */
  onFrame(jpeg: Uint8Array): void
  /** A larger one is dropped. */
  readonly maxFrameBytes?: number
}

/** A head is looked for in so many bytes before its picture. */
const maxHeadBytes = 4096

/** Bytes that may stand behind a picture and be counted as its own, and how many. */
const fillers: readonly number[] = [0, 0x0a, 0x0d]
const maxFiller = 64

/** Bytes that begin every picture: the third is the first marker behind FF D8. */
const start = [0xff, jpegMarker.startOfImage, 0xff] as const

export class MjpegReader {
  /** Pictures begun and not given: cut short, broken, too large. */
  badFrames = 0
  /** Bytes that came since the last picture was complete. */
  bytesSinceFrame = 0
  readonly #onFrame: (jpeg: Uint8Array) => void
  readonly #maxFrameBytes: number
  #bytes = new Uint8Array(64 * 1024)
  #end = 0
  /** Where the last picture ended, and the head of the next may begin. */
  #headAt = 0
  /** Where the picture being read begins, or -1. */
  #frameAt = -1
  /** How far the picture is understood, or, without one, the bytes are searched. */
  #at = 0
  #isInScan = false
  /** What the head of the part says; 0 when it says nothing or is not believed. */
  #announcedBytes = 0
  #isLengthRight = true

  constructor({ onFrame, maxFrameBytes = 8 * 1024 * 1024 }: MjpegReaderOptions) {
    this.#onFrame = onFrame
    this.#maxFrameBytes = maxFrameBytes
  }

  /** Takes any cut of the stream; the bytes may be overwritten after the call. Never throws on what a camera sends. */
  push(bytes: Uint8Array): void {
    this.bytesSinceFrame += bytes.length
    this.#append(bytes)
    while (this.#frameAt >= 0 ? this.#continueFrame() : this.#findFrame());
    this.#forget()
  }

  /** True when a picture was begun. */
  #findFrame(): boolean {
    const found = indexOfStart(this.#bytes, this.#at, this.#end)
    if (found < 0) {
      this.#at = Math.max(this.#at, this.#end - start.length + 1)
      return false
    }
    this.#begin(found)
    if (!this.#isLengthRight) return true
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

  /** True when the picture ended, in one way or another; false when more bytes are needed. */
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

  /** True when the picture is as long as announced, false when it is not all there, undefined when it must be followed. */
  #checkAnnounced(): boolean | undefined {
    const end = this.#frameAt + this.#announcedBytes
    if (end > this.#end) return false
    // Some count the line end behind the picture, or fill up with zeros.
    let last = end
    while (last > end - maxFiller && fillers.includes(this.#bytes[last - 1]!)) last--
    if (this.#bytes[last - 2] === 0xff && this.#bytes[last - 1] === jpegMarker.endOfImage) {
      this.#give(last)
      return true
    }
    // Without an end of its own: as long as the next part begins where it should, the picture is taken as it is.
    if (end + 4 > this.#end) return false
    const isFramed = /^(?:\r?\n)?--/.test(latin1(this.#bytes.subarray(end, end + 4)))
    if (isFramed) {
      this.#give(end)
      return true
    }
    this.#announcedBytes = 0
    this.#isLengthRight = false
    return undefined
  }

  /** From marker to marker up to the next scan, past whatever stands inside of them (small pictures, too); undefined when it is there. */
  #followSegments(): boolean | undefined {
    const bytes = this.#bytes
    while (this.#at + 3 < this.#end) {
      if (bytes[this.#at] !== 0xff) return this.#drop(this.#at)
      const marker = bytes[this.#at + 1]!
      // Any number of fill bytes may stand before a marker.
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

  /** Up to the end of the picture; undefined when tables and another scan follow. */
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
        this.#give(found + 2)
        return true
      }
      // Cut short: another begins.
      if (marker === jpegMarker.startOfImage) return this.#drop(found)
      const isData = marker === 0 || (marker >= 0xd0 && marker <= 0xd7)
      if (marker === 0xff) this.#at = found + 1
      else if (!isData) {
        // Tables and the next scan of a progressive picture.
        this.#at = found
        this.#isInScan = false
        return undefined
      }
    }
  }

  #give(end: number): void {
    const jpeg = this.#bytes.slice(this.#frameAt, end)
    this.#frameAt = -1
    this.#at = end
    this.#headAt = end
    this.bytesSinceFrame = this.#end - end
    this.#onFrame(hasEnd(jpeg) ? jpeg : withEnd(jpeg))
  }

  #drop(at: number): true {
    this.badFrames++
    // The head of the next part stands behind the beginning of this picture, however short it was cut.
    this.#headAt = this.#frameAt
    this.#frameAt = -1
    this.#at = at
    return true
  }

  /** Bytes before the picture, or before what may be the head of the next, are of no more use. */
  #forget(): void {
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
