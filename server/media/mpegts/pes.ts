// Writes the header of a packetized elementary stream (PES) packet with its timestamps. ISO/IEC 13818-1 2.4.3.6.

export const videoStreamId = 0xe0
export const audioStreamId = 0xc0
/** For formats that the standard does not define. */
export const privateStreamId = 0xbd

export type PesTimes = {
  /** 90 kHz ticks; only the low 33 bits are sent. */
  readonly pts90k: number
  readonly dts90k: number
}

/**
 * Writes the header before `payloadBytes` bytes of one access unit. The decode time is omitted when it equals the
 * presentation time. The length is 0 (unbounded, which only video may use) when it does not fit.
 */
export function writePesHeader(streamId: number, { pts90k, dts90k }: PesTimes, payloadBytes: number): Uint8Array {
  const hasDts = dts90k !== pts90k
  const timeBytes = hasDts ? 10 : 5
  const rest = 3 + timeBytes + payloadBytes
  const length = streamId === videoStreamId || rest > 0xffff ? 0 : rest
  const dataAlignment = 0x04
  const header = new Uint8Array(9 + timeBytes)
  header.set([0, 0, 1, streamId, length >>> 8, length & 0xff, 0x80 | dataAlignment, hasDts ? 0xc0 : 0x80, timeBytes])
  header.set(writeTime(hasDts ? 0b0011 : 0b0010, pts90k), 9)
  if (hasDts) header.set(writeTime(0b0001, dts90k), 14)
  return header
}

/** Writes four bits of prefix and 33 bits of time in groups of 3, 15 and 15 bits, each followed by a marker bit. */
function writeTime(prefix: number, time90k: number): number[] {
  const time = wrap33(time90k)
  const top = Math.floor(time / 0x40000000)
  return [
    (prefix << 4) | (top << 1) | 1,
    (time >>> 22) & 0xff,
    ((time >>> 14) & 0xfe) | 1,
    (time >>> 7) & 0xff,
    ((time << 1) & 0xfe) | 1,
  ]
}

const range33 = 2 ** 33

/** Reduces a time to the 33 bits of the format, which wrap after 26.5 hours. */
export function wrap33(time90k: number): number {
  return ((time90k % range33) + range33) % range33
}
