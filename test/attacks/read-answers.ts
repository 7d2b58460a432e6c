// Reads the responses on a connection as leniently as possible and returns status and body of each. RFC 9112, RFC 9113.

import { flags, frameTypes } from './http2-frames.ts'

export type RawAnswer = {
  /** 0 if it could not be read. */
  readonly status: number
  /** Headers of HTTP/1.1 with names in lower case. */
  readonly headers: { readonly [name: string]: string }
  readonly body: Buffer
}

export function readAnswers(bytes: Buffer, protocol: 'http/1.1' | 'h2'): RawAnswer[] {
  return protocol === 'h2' ? readHttp2(bytes) : readHttp1(bytes)
}

const headLine = /^HTTP\/1\.1 (\d{3}) [^\r\n]*$/

function readHttp1(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = []
  let at = 0
  while (at < bytes.length) {
    const headEnd = bytes.indexOf('\r\n\r\n', at)
    if (headEnd < 0) break
    const [first, ...lines] = bytes.toString('latin1', at, headEnd).split('\r\n')
    const status = Number(headLine.exec(first!)?.[1] ?? 0)
    const headers: { [name: string]: string } = {}
    for (const line of lines) {
      const [name, value] = line.split(/: ?(.*)/s)
      headers[name!.toLowerCase()] = value ?? ''
    }
    at = headEnd + 4
    const from = at
    // A response to HEAD has no body, whatever its Content-Length says.
    const isNext = bytes.toString('latin1', at, at + 9) === 'HTTP/1.1 '
    if (status < 200 || status === 204 || status === 304 || isNext) {
      answers.push({ status, headers, body: Buffer.alloc(0) })
      continue
    }
    if (headers['transfer-encoding'] === 'chunked') {
      const parts: Buffer[] = []
      for (;;) {
        const lineEnd = bytes.indexOf('\r\n', at)
        const size = lineEnd < 0 ? 0 : Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
        if (lineEnd < 0 || Number.isNaN(size)) at = bytes.length
        else at = lineEnd + 2 + size + 2
        if (!(size > 0)) break
        parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
      }
      answers.push({ status, headers, body: Buffer.concat(parts) })
      continue
    }
    const length = headers['content-length']
    at = length === undefined ? bytes.length : Math.min(bytes.length, from + Number(length))
    answers.push({ status, headers, body: bytes.subarray(from, at) })
  }
  return answers
}

/** Entries 8 to 14 of the HPACK static table (RFC 7541 appendix A). */
const staticStatuses = [200, 204, 206, 304, 400, 404, 500]

/** Digits in the HPACK Huffman code (RFC 7541 appendix B). */
const digitCodes = new Map(
  ['00000', '00001', '00010', '011001', '011010', '011011', '011100', '011101', '011110', '011111'].map(
    (code, digit) => [code, digit] as const,
  ),
)

/** Whether the server has ended the first stream of an HTTP/2 connection, or the connection. */
export function hasEnded(bytes: Buffer): boolean {
  for (const { type, flagBits, id } of readFrames(bytes)) {
    const isEnd = (type === frameTypes.headers || type === frameTypes.data) && (flagBits & flags.endStream) !== 0
    if (type === frameTypes.goaway || (id === 1 && (isEnd || type === frameTypes.reset))) return true
  }
  return false
}

/** Frames that are complete. */
function* readFrames(bytes: Buffer) {
  for (let at = 0; at + 9 <= bytes.length; ) {
    const from = at + 9
    const to = from + bytes.readUIntBE(at, 3)
    if (to > bytes.length) return
    const id = bytes.readUInt32BE(at + 5) & 0x7fffffff
    yield { type: bytes[at + 3]!, flagBits: bytes[at + 4]!, id, payload: bytes.subarray(from, to) }
    at = to
  }
}

function readHttp2(bytes: Buffer): RawAnswer[] {
  const streams = new Map<number, { status: number; parts: Buffer[] }>()
  for (const { type, id, payload } of readFrames(bytes)) {
    const stream = streams.get(id) ?? { status: 0, parts: [] }
    if (type === frameTypes.headers && !(stream.status >= 200)) {
      stream.status = readStatus(payload)
      streams.set(id, stream)
    } else if (type === frameTypes.data) stream.parts.push(payload)
  }
  return [...streams.values()].map(({ status, parts }) => ({ status, headers: {}, body: Buffer.concat(parts) }))
}

/** `:status` comes first, except for changes of the table size. */
function readStatus(block: Buffer): number {
  let at = 0
  while (at < block.length && (block[at]! & 0xe0) === 0x20) at++
  const first = block[at] ?? 0
  if (first >= 0x88 && first <= 0x8e) return staticStatuses[first - 0x88]!
  if (![0x08, 0x18, 0x48].includes(first)) return 0
  const length = block[at + 1]! & 0x7f
  const value = block.subarray(at + 2, at + 2 + length)
  if ((block[at + 1]! & 0x80) === 0) return Number(value.toString('latin1'))
  const bits = [...value].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  let text = ''
  for (let from = 0, to = 5; to <= bits.length && text.length < 3; to++) {
    const digit = digitCodes.get(bits.slice(from, to))
    if (digit === undefined) continue
    text += digit
    from = to
    to += 4
  }
  return Number(text)
}
