// Splits the bytes of one RTSP connection into messages and interleaved packets ('$' channel length data, RFC 2326
// 10.12).
//
// This is the hot path of the service: a packet that lies completely in the pushed bytes is passed on in place, without
// allocation or copying. Only a packet or message that is split by the end of a read is kept, and no more of it than
// was received. Once the peer has proved to speak RTSP, stray bytes between packets and messages are skipped.

import { AppError } from '../../base/error.ts'
import { findHeader, parseRtspHead, type RtspMessage } from './message.ts'

export type RtspStreamHandler = {
  /** Called with an interleaved packet `bytes[start, end)`, which is valid only during the call. */
  onPacket(channel: number, bytes: Uint8Array, start: number, end: number): void
  onMessage(message: RtspMessage): void
  /** Called when this many stray bytes were skipped. Packets may be missing there. */
  onSkipped?(bytes: number): void
  /**
   * After skipped bytes, only packets that this function accepts are read, because a false packet would swallow up to
   * 64 KB of the data behind it. `bytes[start, end)` is the received part of the packet; undefined means that it is too
   * short to decide. Default: all packets of RTP version 2.
   */
  isPacket?(channel: number, bytes: Uint8Array, start: number, end: number): boolean | undefined
  /**
   * Like `isPacket`, for data that directly follows a packet or message. Other packets are accepted only when a packet
   * or message follows where they end and they do not contain what looks like a row of packets. Default: all packets
   * are accepted.
   */
  isExpected?(channel: number, bytes: Uint8Array, start: number, end: number): boolean | undefined
}

export type RtspStreamLimits = {
  readonly maxHeadBytes?: number
  readonly maxBodyBytes?: number
  /** More skipped bytes than this in one place are an error. */
  readonly maxSkippedBytes?: number
}

const dollar = 0x24
const cr = 0x0d
const lf = 0x0a
/** More false message starts than this without a packet or message in between are an error. */
const maxFalseStarts = 64

const messageStart = [...'RTSP/1.'].map((character) => character.charCodeAt(0))

export class RtspStreamReader {
  readonly #handler: RtspStreamHandler
  readonly #maxHeadBytes: number
  readonly #maxBodyBytes: number
  /** The start of an incomplete packet or message: its first `#keptBytes` bytes. */
  #kept = new Uint8Array(0)
  #keptBytes = 0
  /**
   * How far the kept head of a message has been searched for its end, so that slowly arriving bytes cost linear time.
   */
  #searchedBytes = 0
  /** The head of a message whose body is incomplete, and the length of both. */
  #pending: { readonly message: RtspMessage; readonly headBytes: number; readonly totalBytes: number } | undefined
  /** A message was received, so the peer speaks RTSP. */
  #isRtspPeer = false
  /** Bytes skipped so far; above 0 the reader is searching for the next packet or message. */
  #skippedBytes = 0
  /** Stray bytes and false message starts since the last packet or message. */
  #strayBytes = 0
  #falseStarts = 0
  /** How much of an unexpected packet has been checked, so that slowly arriving bytes cost linear time. */
  #verifiedBytes = 0
  /** After a failed message, no other message begins before this position. */
  #nextMessage = 0
  readonly #maxSkippedBytes: number

  constructor(handler: RtspStreamHandler, limits: RtspStreamLimits = {}) {
    const { maxHeadBytes = 16_384, maxBodyBytes = 131_072, maxSkippedBytes = 65_536 } = limits
    this.#handler = handler
    this.#maxHeadBytes = maxHeadBytes
    this.#maxBodyBytes = maxBodyBytes
    this.#maxSkippedBytes = maxSkippedBytes
  }

  /**
   * Delivers the message whose body is incomplete, with the part of the body that was received, for peers that announce
   * more than they send. Returns false when there is none.
   */
  takeIncomplete(): boolean {
    if (!this.#pending) return false
    const { message, headBytes } = this.#pending
    const body = this.#kept.slice(headBytes, this.#keptBytes)
    this.#pending = undefined
    this.#searchedBytes = 0
    this.#keptBytes = 0
    this.#isRtspPeer = true
    this.#handler.onMessage({ ...message, body })
    return true
  }

  /** Number of bytes kept for incomplete packets and messages. */
  get keptBytes(): number {
    return this.#keptBytes
  }

  /**
   * Takes `bytes[start, end)`, any part of the stream, which may be overwritten after the call. @throws AppError
   * 'corrupt' when the data is not RTSP or exceeds a limit; the connection must then be closed
   */
  push(bytes: Uint8Array, start = 0, end = bytes.length): void {
    let at = start
    while (this.#keptBytes > 0 && at < end) at = this.#continueKept(bytes, at, end)
    while (at < end) {
      const isPacket = bytes[at] === dollar && this.#skippedBytes === 0
      const next = isPacket ? this.#takePacket(bytes, at, end) : this.#takeOther(bytes, at, end)
      if (next === at) break
      at = next
    }
    if (at < end) this.#keep(bytes, at, end)
  }

  /** Returns where the next packet or message starts, or `at` when the packet is incomplete. */
  #takePacket(bytes: Uint8Array, at: number, end: number): number {
    if (end - at < 4) return at
    const next = packetEnd(bytes, at)
    const isAccepted = this.#isExpected(bytes, at, end) ?? this.#verifyPacket(bytes, at, end)
    if (isAccepted === undefined) return at
    this.#verifiedBytes = 0
    if (!isAccepted) return this.#skip(bytes, at, end, at + 1, at + 1)
    if (next > end) return at
    this.#strayBytes = 0
    this.#falseStarts = 0
    this.#handler.onPacket(bytes[at + 1]!, bytes, at + 4, next)
    return next
  }

  /** Returns true for a packet of an expected kind, and undefined for others, which must be verified. */
  #isExpected(bytes: Uint8Array, at: number, end: number): true | undefined {
    if (!this.#handler.isExpected || !this.#isRtspPeer) return true
    const last = Math.min(end, packetEnd(bytes, at))
    return this.#handler.isExpected(bytes[at + 1]!, bytes, at + 4, last) || undefined
  }

  /**
   * Verifies that an unexpected packet is a packet and not a stray byte that looks like the start of one. Returns
   * undefined when more bytes are needed.
   */
  #verifyPacket(bytes: Uint8Array, at: number, end: number): boolean | undefined {
    const next = packetEnd(bytes, at)
    const follows = next < end ? this.#checkFollowing(bytes, next, end) : undefined
    if (follows !== undefined) return follows
    if (end - at < 2 * this.#verifiedBytes) return undefined
    this.#verifiedBytes = end - at
    for (let i = bytes.indexOf(dollar, at + 1); i >= 0 && i < end; i = bytes.indexOf(dollar, i + 1)) {
      if (!this.#isItem(bytes, i, end, end)) continue
      const second = packetEnd(bytes, i)
      if (second < end && this.#isItem(bytes, second, end, end)) return false
    }
    return undefined
  }

  /** Checks what follows a packet. Returns undefined when there are too few bytes to decide. */
  #checkFollowing(bytes: Uint8Array, at: number, end: number): boolean | undefined {
    if (bytes[at] !== dollar) return this.#isItem(bytes, at, end, at)
    if (end - at < 4) return undefined
    return packetEnd(bytes, at) === at + 4 || this.#handler.isExpected?.(bytes[at + 1]!, bytes, at + 4, end)
  }

  /** Like `#takePacket`, for a message or stray bytes. */
  #takeOther(bytes: Uint8Array, at: number, end: number): number {
    if (this.#skippedBytes > 0) {
      const next = this.#skip(bytes, at, end, at, at)
      if (next > at || this.#skippedBytes > 0) return next
      if (bytes[at] === dollar) return this.#takePacket(bytes, at, end)
    }
    try {
      return this.#takeMessage(bytes, at, end)
    } catch (error) {
      if (!this.#isRtspPeer || ++this.#falseStarts > maxFalseStarts) throw error
      this.#pending = undefined
      this.#searchedBytes = 0
      return this.#skip(bytes, at, end, at + 1, this.#nextMessage)
    }
  }

  /**
   * Returns the next position from `from` on where a packet or message begins, or may begin once more bytes are there;
   * otherwise `end`. Messages are searched from `messageFrom` on.
   */
  #skip(bytes: Uint8Array, at: number, end: number, from: number, messageFrom: number): number {
    let next = from
    let isItem: boolean | undefined = false
    while (next < end && (isItem = this.#isItem(bytes, next, end, messageFrom)) === false) next++
    this.#skippedBytes += next - at
    this.#strayBytes += next - at
    if (this.#strayBytes > this.#maxSkippedBytes) {
      throw new AppError('corrupt', `RTSP: found no packet or message in ${this.#strayBytes} bytes`)
    }
    if (isItem) {
      this.#handler.onSkipped?.(this.#skippedBytes)
      this.#skippedBytes = 0
    }
    return next
  }

  /** Returns undefined when there are too few bytes to decide. */
  #isItem(bytes: Uint8Array, at: number, end: number, messageFrom: number): boolean | undefined {
    if (bytes[at] === dollar) {
      if (end - at < 4) return undefined
      const length = (bytes[at + 2]! << 8) | bytes[at + 3]!
      if (length === 0) return false
      const start = at + 4
      if (start === end) return undefined
      if (bytes[start]! >> 6 !== 2) return false
      return this.#handler.isPacket ? this.#handler.isPacket(bytes[at + 1]!, bytes, start, end) : true
    }
    if (at < messageFrom) return false
    const length = Math.min(messageStart.length, end - at)
    for (let i = 0; i < length; i++) if (bytes[at + i] !== messageStart[i]) return false
    return length === messageStart.length ? true : undefined
  }

  /** Like `#takePacket`. Line ends between messages are skipped (RFC 2326 4.1). */
  #takeMessage(bytes: Uint8Array, at: number, end: number): number {
    if (bytes[at] === cr || bytes[at] === lf) return at + 1
    if (!this.#pending) {
      const headEnd = findHeadEnd(bytes, Math.max(at, at + this.#searchedBytes - 3), end)
      this.#checkHead(bytes, at, headEnd < 0 ? end : headEnd)
      if (headEnd < 0) {
        this.#searchedBytes = end - at
        return at
      }
      this.#nextMessage = at + 1
      this.#pending = this.#readHead(bytes, at, headEnd)
    }
    const { message, headBytes, totalBytes } = this.#pending
    if (end - at < totalBytes) return at
    this.#pending = undefined
    this.#searchedBytes = 0
    this.#isRtspPeer = true
    this.#strayBytes = 0
    this.#falseStarts = 0
    const body = totalBytes > headBytes ? bytes.slice(at + headBytes, at + totalBytes) : message.body
    this.#handler.onMessage({ ...message, body })
    return at + totalBytes
  }

  /**
   * Fails early on bytes that cannot be RTSP instead of collecting a whole head of them. `end` is the end of the head,
   * or of the part that was received.
   */
  #checkHead(bytes: Uint8Array, at: number, end: number): void {
    const invalid = findControl(bytes, at + this.#searchedBytes, end)
    if (invalid >= 0) {
      // An unfinished message that begins before this byte contains it, too.
      this.#nextMessage = invalid + 1
      const found = `0x${bytes[invalid]!.toString(16).padStart(2, '0')}`
      throw new AppError('corrupt', `RTSP: expected text, found the byte ${found}`)
    }
    if (end - at <= this.#maxHeadBytes) return
    this.#nextMessage = end - this.#maxHeadBytes
    throw new AppError('corrupt', 'RTSP: the message head is too long')
  }

  #readHead(bytes: Uint8Array, at: number, headEnd: number) {
    const text = new TextDecoder().decode(bytes.subarray(at, headEnd)).trimEnd()
    const message = parseRtspHead(text)
    const headBytes = headEnd - at
    const length = findHeader(message.headers, 'content-length')
    if (length === undefined) return { message, headBytes, totalBytes: headBytes }
    if (!/^\d{1,9}$/.test(length) || Number(length) > this.#maxBodyBytes) {
      throw new AppError('corrupt', `RTSP: expected a Content-Length of at most ${this.#maxBodyBytes}`)
    }
    return { message, headBytes, totalBytes: headBytes + Number(length) }
  }

  /**
   * Completes the kept packet or message and delivers it once it is complete. Returns how much of `bytes` is consumed.
   */
  #continueKept(bytes: Uint8Array, at: number, end: number): number {
    const before = this.#keptBytes
    const missing = this.#missingBytes()
    const used = Math.min(missing, end - at)
    this.#append(bytes, at, at + used)
    const kept = this.#kept
    const length = this.#keptBytes
    let next = 0
    for (let start = -1; next > start && next < before; ) {
      start = next
      const isPacket = kept[start] === dollar && this.#skippedBytes === 0
      next = isPacket ? this.#takePacket(kept, start, length) : this.#takeOther(kept, start, length)
    }
    if (next < before) {
      kept.copyWithin(0, next, length)
      this.#keptBytes = length - next
      return at + used
    }
    this.#keptBytes = 0
    // The appended bytes that lie behind the completed part are read again from the pushed bytes.
    return at + (next - before)
  }

  /** Returns at least 1. The length of a message head is unknown, so everything that was received is searched. */
  #missingBytes(): number {
    const kept = this.#kept
    if (kept[0] !== dollar) return this.#pending ? this.#pending.totalBytes - this.#keptBytes : 4096
    if (this.#keptBytes < 4) return 4 - this.#keptBytes
    const missing = packetEnd(kept, 0) - this.#keptBytes
    // A complete packet that is not accepted yet: the bytes behind it decide.
    return missing > 0 ? missing : messageStart.length
  }

  #keep(bytes: Uint8Array, start: number, end: number): void {
    this.#keptBytes = 0
    this.#append(bytes, start, end)
  }

  #append(bytes: Uint8Array, start: number, end: number): void {
    const length = this.#keptBytes + end - start
    if (length > this.#kept.length) {
      const larger = new Uint8Array(Math.max(2048, length + (length >> 2)))
      larger.set(this.#kept.subarray(0, this.#keptBytes))
      this.#kept = larger
    }
    this.#kept.set(bytes.subarray(start, end), this.#keptBytes)
    this.#keptBytes = length
  }
}

/** Returns where the packet at `at` ends, by its own length. */
function packetEnd(bytes: Uint8Array, at: number): number {
  return at + 4 + ((bytes[at + 2]! << 8) | bytes[at + 3]!)
}

/** Returns the index behind the empty line, or -1. A bare line feed also ends a line, as some cameras write. */
function findHeadEnd(bytes: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end; i++) {
    if (bytes[i] !== lf) continue
    if (bytes[i + 1] === lf && i + 1 < end) return i + 2
    if (bytes[i + 1] === cr && bytes[i + 2] === lf && i + 2 < end) return i + 3
  }
  return -1
}

/** Returns the index of the first byte that does not occur in text, or -1. */
function findControl(bytes: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    if (byte < 0x20 && byte !== cr && byte !== lf && byte !== 0x09) return i
  }
  return -1
}
