// Writes HTTP/2 frames (RFC 9113 section 4) and HPACK field blocks (RFC 7541) without checking that they are valid.

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const flags = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const

export function writeFrame(
  type: number,
  flagBits: number,
  streamId: number,
  payload: Uint8Array,
  length?: number,
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(length ?? payload.length, 0, 3)
  head[3] = type
  head[4] = flagBits
  head.writeUInt32BE(streamId >>> 0, 5)
  return Buffer.concat([head, payload])
}

export function writeSettings(values: readonly (readonly [id: number, value: number])[], flagBits = 0): Buffer {
  const payload = Buffer.alloc(values.length * 6)
  for (const [i, [id, value]] of values.entries()) {
    payload.writeUInt16BE(id, i * 6)
    payload.writeUInt32BE(value >>> 0, i * 6 + 2)
  }
  return writeFrame(frameTypes.settings, flagBits, 0, payload)
}

export function write32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

/** Writes an integer with a prefix of `prefixBits` bits below `first`. RFC 7541 section 5.1. */
export function writeInteger(value: number, prefixBits: number, first: number): Buffer {
  const most = 2 ** prefixBits - 1
  if (value < most) return Buffer.from([first | value])
  const bytes = [first | most]
  let rest = value - most
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Buffer.from([...bytes, rest])
}

export type Field = readonly [name: string, value: string]

/** Writes literals, which are added to the dynamic table only if `isIndexed` is set. */
export function writeFields(fields: readonly Field[], isIndexed = false): Buffer {
  const text = (value: string) => {
    const bytes = Buffer.from(value, 'latin1')
    return Buffer.concat([writeInteger(bytes.length, 7, 0), bytes])
  }
  const first = Buffer.from([isIndexed ? 0x40 : 0])
  return Buffer.concat(fields.flatMap(([name, value]) => [first, text(name), text(value)]))
}

/** Writes a valid request. */
export function writeRequest(streamId: number, fields: readonly Field[], body?: Uint8Array): Buffer {
  const end = body ? 0 : flags.endStream
  const head = writeFrame(frameTypes.headers, flags.endHeaders | end, streamId, writeFields(fields))
  if (!body) return head
  const chunks: Buffer[] = [head]
  for (let at = 0; at < body.length || at === 0; at += 16384) {
    const last = at + 16384 >= body.length ? flags.endStream : 0
    chunks.push(writeFrame(frameTypes.data, last, streamId, body.subarray(at, at + 16384)))
  }
  return Buffer.concat(chunks)
}
