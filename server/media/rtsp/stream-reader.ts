// Cuts one RTSP connection's bytes into messages and interleaved packets ('$' channel length data, RFC 2326 10.12).
//
// The hot path of the service: a packet that lies whole in the pushed bytes is handed on where it lies, nothing is allocated
// and nothing copied. Only a packet or message cut by the end of a read is kept here, and no more of it than was received.
// Once the peer has proved to speak RTSP, bytes between its items that are none are skipped.

import { AppError } from '../../base/error.ts'
import { findHeader, parseRtspHead, type RtspMessage } from './message.ts'

export type RtspStreamHandler = {
  /** An interleaved packet: `bytes[start, end)`, valid only during the call. */
  onPacket(channel: number, bytes: Uint8Array, start: number, end: number): void
  onMessage(message: RtspMessage): void
  /** So many bytes that belong to nothing were skipped; packets may be missing there. */
  onSkipped?(bytes: number): void
  /**
   * Where bytes are skipped, only these packets are believed: one that is none takes up to 64 KB of what follows along. `bytes[start, end)`
   * is what has come of it, and undefined says that this is too little to tell. Default: all of RTP version 2.
   */
  isPacket?(channel: number, bytes: Uint8Array, start: number, end: number): boolean | undefined
  /**
   * As `isPacket`, of what follows an item without a break. Others are believed only when another item stands where they end, and nothing
   * like a row of packets inside them. Default: all are believed.
   */
  isExpected?(channel: number, bytes: Uint8Array, start: number, end: number): boolean | undefined
}

export type RtspStreamLimits = {
  readonly maxHeadBytes?: number
  readonly maxBodyBytes?: number
  /** More that is skipped in one place is no accident. */
  readonly maxSkippedBytes?: number
}

const dollar = 0x24
const cr = 0x0d
const lf = 0x0a
/** So many places that look like messages and are none, without an item between, are no accident either. */
const maxFalseStarts = 64

const messageStart = [...'RTSP/1.'].map((character) => character.charCodeAt(0))

export class RtspStreamReader {
  readonly #handler: RtspStreamHandler
  readonly #maxHeadBytes: number
  readonly #maxBodyBytes: number
  /** The start of an item that is not complete yet: the first `#keptBytes` of it. */
  #kept = new Uint8Array(0)
  #keptBytes = 0
  /** How far the kept head of a message has been searched for its end, so that trickling bytes cost linear time. */
  #searchedBytes = 0
  /** Head of a message whose body is still coming, and the whole length of both. */
  #pending: { readonly message: RtspMessage; readonly headBytes: number; readonly totalBytes: number } | undefined
  /** A message has come: this is RTSP. */
  #isProven = false
  /** Bytes skipped in one place; above 0 the next item is being looked for. */
  #skippedBytes = 0
  /** Those since the last item, and what looked like one. */
  #strayBytes = 0
  #falseStarts = 0
  /** How much of a packet that was not expected has been looked through, so that trickling bytes cost linear time. */
  #judgedBytes = 0
  /** When what is here is no message: no other begins before this place. */
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
   * Gives the message whose body is not complete, with what has come of it: for peers that announce more than they send. False when
   * there is none.
   */
  takeIncomplete(): boolean {
    if (!this.#pending) return false
    const { message, headBytes } = this.#pending
    const body = this.#kept.slice(headBytes, this.#keptBytes)
    this.#pending = undefined
    this.#searchedBytes = 0
    this.#keptBytes = 0
    this.#isProven = true
    this.#handler.onMessage({ ...message, body })
    return true
  }

  /** Bytes held back for items that are not complete. */
  get keptBytes(): number {
    return this.#keptBytes
  }

  /**
   * Takes `bytes[start, end)`, any cut of the stream; they may be overwritten after the call.
   * @throws AppError 'corrupt' when this is not RTSP or a limit is passed; the connection is then of no further use
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

  /** Returns where the next item starts, or `at` when the packet is not complete. */
  #takePacket(bytes: Uint8Array, at: number, end: number): number {
    if (end - at < 4) return at
    const next = packetEnd(bytes, at)
    const isBelieved = this.#isExpected(bytes, at, end) ?? this.#judge(bytes, at, end)
    if (isBelieved === undefined) return at
    this.#judgedBytes = 0
    if (!isBelieved) return this.#skip(bytes, at, end, at + 1, at + 1)
    if (next > end) return at
    this.#strayBytes = 0
    this.#falseStarts = 0
    this.#handler.onPacket(bytes[at + 1]!, bytes, at + 4, next)
    return next
  }

  /** True for a packet whose kind is expected; undefined for others, which need a closer look. */
  #isExpected(bytes: Uint8Array, at: number, end: number): true | undefined {
    if (!this.#handler.isExpected || !this.#isProven) return true
    const last = Math.min(end, packetEnd(bytes, at))
    return this.#handler.isExpected(bytes[at + 1]!, bytes, at + 4, last) || undefined
  }

  /** Whether it is a packet that was not expected, rather than a byte that looks like the beginning of one; undefined: not yet known. */
  #judge(bytes: Uint8Array, at: number, end: number): boolean | undefined {
    const next = packetEnd(bytes, at)
    const follows = next < end ? this.#mayFollow(bytes, next, end) : undefined
    if (follows !== undefined) return follows
    if (end - at < 2 * this.#judgedBytes) return undefined
    this.#judgedBytes = end - at
    for (let i = bytes.indexOf(dollar, at + 1); i >= 0 && i < end; i = bytes.indexOf(dollar, i + 1)) {
      if (!this.#isItem(bytes, i, end, end)) continue
      const second = packetEnd(bytes, i)
      if (second < end && this.#isItem(bytes, second, end, end)) return false
    }
    return undefined
  }

  /** What stands behind a packet; undefined when there are too few bytes to tell. */
  #mayFollow(bytes: Uint8Array, at: number, end: number): boolean | undefined {
    if (bytes[at] !== dollar) return this.#isItem(bytes, at, end, at)
    if (end - at < 4) return undefined
    return packetEnd(bytes, at) === at + 4 || this.#handler.isExpected?.(bytes[at + 1]!, bytes, at + 4, end)
  }

  /** As `#takePacket`, for what is no packet: a message, or bytes to skip. */
  #takeOther(bytes: Uint8Array, at: number, end: number): number {
    if (this.#skippedBytes > 0) {
      const next = this.#skip(bytes, at, end, at, at)
      if (next > at || this.#skippedBytes > 0) return next
      if (bytes[at] === dollar) return this.#takePacket(bytes, at, end)
    }
    try {
      return this.#takeMessage(bytes, at, end)
    } catch (error) {
      if (!this.#isProven || ++this.#falseStarts > maxFalseStarts) throw error
      this.#pending = undefined
      this.#searchedBytes = 0
      return this.#skip(bytes, at, end, at + 1, this.#nextMessage)
    }
  }

  /**
   * The next place from `from` on where an item begins, or may begin once more bytes are there; else `end`. Messages are looked for
   * from `messageFrom` on.
   */
  #skip(bytes: Uint8Array, at: number, end: number, from: number, messageFrom: number): number {
    let next = from
    let isItem: boolean | undefined = false
    while (next < end && (isItem = this.#isItem(bytes, next, end, messageFrom)) === false) next++
    this.#skippedBytes += next - at
    this.#strayBytes += next - at
    if (this.#strayBytes > this.#maxSkippedBytes) {
      throw new AppError('corrupt', `RTSP: no packet or message in ${this.#strayBytes} bytes`)
    }
    if (isItem) {
      this.#handler.onSkipped?.(this.#skippedBytes)
      this.#skippedBytes = 0
    }
    return next
  }

  /** Undefined when there are too few bytes to tell. */
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

  /** As `#takePacket`. Line ends between messages are skipped (RFC 2326 4.1). */
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
    this.#isProven = true
    this.#strayBytes = 0
    this.#falseStarts = 0
    const body = totalBytes > headBytes ? bytes.slice(at + headBytes, at + totalBytes) : message.body
    this.#handler.onMessage({ ...message, body })
    return at + totalBytes
  }

  /** Fails early on bytes that can be no RTSP, rather than collect a whole head of them. `end`: of the head, or of what there is of it. */
  #checkHead(bytes: Uint8Array, at: number, end: number): void {
    const strange = findControl(bytes, at + this.#searchedBytes, end)
    if (strange >= 0) {
      // Whatever begins before it and has not ended holds it, too.
      this.#nextMessage = strange + 1
      const found = `0x${bytes[strange]!.toString(16).padStart(2, '0')}`
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
      throw new AppError('corrupt', `RTSP: expected a Content-Length of at most ${this.#maxBodyBytes}, found another`)
    }
    return { message, headBytes, totalBytes: headBytes + Number(length) }
  }

  /** Adds what the kept item lacks; emits it when that completes it. Returns how far `bytes` are used. */
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
    // What of the appended bytes lies behind the item is read again from the pushed bytes.
    return at + (next - before)
  }

  /** At least 1. A message's head has no known length, so all that came is looked at. */
  #missingBytes(): number {
    const kept = this.#kept
    if (kept[0] !== dollar) return this.#pending ? this.#pending.totalBytes - this.#keptBytes : 4096
    if (this.#keptBytes < 4) return 4 - this.#keptBytes
    const missing = packetEnd(kept, 0) - this.#keptBytes
    // One that is there and not believed yet: what stands behind it tells.
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

/** Where the packet ends that begins here, by its own length. */
function packetEnd(bytes: Uint8Array, at: number): number {
  return at + 4 + ((bytes[at + 2]! << 8) | bytes[at + 3]!)
}

/** Index just behind the empty line, or -1. A lone line feed ends a line too, as some cameras write. */
function findHeadEnd(bytes: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end; i++) {
    if (bytes[i] !== lf) continue
    if (bytes[i + 1] === lf && i + 1 < end) return i + 2
    if (bytes[i + 1] === cr && bytes[i + 2] === lf && i + 2 < end) return i + 3
  }
  return -1
}

/** Index of the first byte that stands in no text, or -1. */
function findControl(bytes: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    if (byte < 0x20 && byte !== cr && byte !== lf && byte !== 0x09) return i
  }
  return -1
}
