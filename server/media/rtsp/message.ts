// RTSP requests and responses as values and as text (RFC 2326 sections 4 to 7). For splitting a byte stream into
// messages, see stream-reader.ts.

import { AppError } from '../../base/error.ts'

/** Name and value, in the order sent. Names are case-insensitive and may occur several times. */
export type RtspHeader = readonly [name: string, value: string]

export type RtspRequest = {
  readonly kind: 'request'
  readonly method: string
  readonly url: string
  readonly headers: readonly RtspHeader[]
  readonly body: Uint8Array
}

export type RtspResponse = {
  readonly kind: 'response'
  readonly status: number
  readonly reason: string
  readonly headers: readonly RtspHeader[]
  readonly body: Uint8Array
}

export type RtspMessage = RtspRequest | RtspResponse

/** Returns the first value of the header, or undefined. */
export function findHeader(headers: readonly RtspHeader[], name: string): string | undefined {
  const wanted = name.toLowerCase()
  return headers.find((header) => header[0].toLowerCase() === wanted)?.[1]
}

/** Returns every value of the header in order. */
export function listHeaders(headers: readonly RtspHeader[], name: string): string[] {
  const wanted = name.toLowerCase()
  return headers.filter((header) => header[0].toLowerCase() === wanted).map((header) => header[1])
}

/** Parses the start line and the header lines, without the empty line that ends them. @throws AppError 'corrupt' */
export function parseRtspHead(text: string): RtspMessage {
  const lines = text.split(/\r?\n/)
  const headers = parseHeaders(lines)
  const startLine = lines[0]!
  const response = /^RTSP\/\d\.\d +(\d{3})(?: (.*))?$/.exec(startLine)
  if (response) {
    const [, status, reason = ''] = response
    return { kind: 'response', status: Number(status), reason, headers, body: new Uint8Array() }
  }
  const request = /^([A-Z_]{1,32}) (\S+) RTSP\/\d\.\d$/.exec(startLine)
  if (request) return { kind: 'request', method: request[1]!, url: request[2]!, headers, body: new Uint8Array() }
  throw new AppError('corrupt', `RTSP: expected a request or response line, found ${quoteStart(startLine)}`)
}

function parseHeaders(lines: readonly string[]): RtspHeader[] {
  const headers: RtspHeader[] = []
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i]!
    const last = headers.at(-1)
    if (/^[ \t]/.test(line) && last) {
      headers[headers.length - 1] = [last[0], `${last[1]} ${line.trim()}`]
      continue
    }
    const colon = line.indexOf(':')
    if (colon < 1) throw new AppError('corrupt', `RTSP: expected a header line, found ${quoteStart(line)}`)
    headers.push([line.slice(0, colon).trim(), line.slice(colon + 1).trim()])
  }
  return headers
}

/** Bounded and printable, because the text is logged. */
function quoteStart(text: string): string {
  return JSON.stringify(text.slice(0, 40))
}

/** Returns the bytes of the message. `Content-Length` is added when there is a body and the header is missing. */
export function writeRtspMessage(message: RtspMessage): Uint8Array {
  const startLine =
    message.kind === 'request'
      ? `${message.method} ${message.url} RTSP/1.0`
      : `RTSP/1.0 ${message.status} ${message.reason}`
  let text = `${startLine}\r\n`
  for (const [name, value] of message.headers) text += `${name}: ${value}\r\n`
  if (message.body.length > 0 && findHeader(message.headers, 'content-length') === undefined) {
    text += `Content-Length: ${message.body.length}\r\n`
  }
  const head = new TextEncoder().encode(`${text}\r\n`)
  if (message.body.length === 0) return head
  const bytes = new Uint8Array(head.length + message.body.length)
  bytes.set(head)
  bytes.set(message.body, head.length)
  return bytes
}
