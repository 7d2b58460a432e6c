// A frame's number inside its H.264 or H.265 bytes: an SEI message "user data unregistered" (ITU-T H.264 D.1.7, H.265 D.2.7) that our
// camera puts into every access unit and that every copy of the stream keeps, so that a test can prove that no frame is
// missing.

/** Marks our message; ASCII, so that it never needs emulation prevention. */
const uuid = new TextEncoder().encode('nightjar-counter')
/** NAL header, kind of message, length. */
const seiHeaders = { h264: Uint8Array.of(0x06, 5, 40), h265: Uint8Array.of(39 << 1, 1, 5, 40) } as const
const digits = 12

export type FrameCounter = {
  /** Counts the frames of a stream from 0, without a hole. */
  readonly frameNumber: number
  /** When the frame was sent by the camera's clock, Unix milliseconds. */
  readonly unixMs: number
}

/** The NAL unit, without start code or length; of one codec always of the same size. */
export function writeFrameCounter(counter: FrameCounter, codec: 'h264' | 'h265' = 'h264'): Uint8Array {
  const header = seiHeaders[codec]
  const nal = new Uint8Array(header.length + uuid.length + 2 * digits + 1)
  nal.set(header)
  nal.set(uuid, header.length)
  patchFrameCounter(nal, header.length + uuid.length, counter)
  nal[nal.length - 1] = 0x80
  return nal
}

/** Writes other numbers over those at `at`, as `findFrameCounter` gave it. */
export function patchFrameCounter(bytes: Uint8Array, at: number, { frameNumber, unixMs }: FrameCounter): void {
  writeHex(bytes, at, frameNumber)
  writeHex(bytes, at + digits, Math.floor(unixMs))
}

/** Where the numbers of the first counter at or after `from` lie in any bytes that hold the NAL unit whole, or -1. */
export function findFrameCounter(bytes: Uint8Array, from = 0): number {
  const last = bytes.length - uuid.length - 2 * digits
  for (let at = bytes.indexOf(uuid[0]!, from); at >= 0 && at <= last; at = bytes.indexOf(uuid[0]!, at + 1)) {
    if (uuid.every((byte, i) => bytes[at + i] === byte)) return at + uuid.length
  }
  return -1
}

/** The counter of a NAL unit or of an access unit in any form (length-prefixed, Annex B), or undefined. */
export function readFrameCounter(bytes: Uint8Array): FrameCounter | undefined {
  const at = findFrameCounter(bytes)
  return at < 0 ? undefined : parseCounter(bytes, at)
}

/** Every counter in the bytes, in order: of a whole fragment or file. A transport stream may cut some; MP4 never does. */
export function listFrameCounters(bytes: Uint8Array): FrameCounter[] {
  const counters: FrameCounter[] = []
  for (let at = findFrameCounter(bytes); at >= 0; at = findFrameCounter(bytes, at))
    counters.push(parseCounter(bytes, at))
  return counters
}

function parseCounter(bytes: Uint8Array, at: number): FrameCounter {
  return { frameNumber: readHex(bytes, at), unixMs: readHex(bytes, at + digits) }
}

function writeHex(bytes: Uint8Array, at: number, value: number): void {
  for (let i = digits - 1, rest = value; i >= 0; i--, rest = Math.floor(rest / 16)) {
    const digit = rest % 16
    bytes[at + i] = digit < 10 ? 0x30 + digit : 0x57 + digit
  }
}

function readHex(bytes: Uint8Array, at: number): number {
  return Number.parseInt(String.fromCharCode(...bytes.subarray(at, at + digits)), 16)
}
