// The messages between the server and its decoder process: big-endian, each preceded by its length in 4 bytes. The next
// request is sent after the reply to the previous one, so messages have no numbers.

import { AppError } from '../base/error.ts'
import type { VideoCodec } from '../media/frame.ts'
import type { ImageLimits } from '../media/image-size.ts'

export type DecodeRequest = {
  readonly codec: VideoCodec
  /** Decoder configuration record, as in `VideoFormat.config`. */
  readonly config: Uint8Array
  /** One key frame, as in `Frame.data`, or several access units for gradual refresh; see `KeyFrameCollector`. */
  readonly data: Uint8Array
  /** One image is created for each size, in this order. */
  readonly sizes: readonly ImageLimits[]
}

/**
 * `cpuMs` is the processor time in milliseconds, with microsecond resolution. `error` says why the frame could not be
 * decoded.
 */
export type DecodeReply = { readonly cpuMs: number } & ({ readonly jpegs: Uint8Array[] } | { readonly error: string })

export const maxSizes = 64

const codecs: readonly VideoCodec[] = ['h264', 'h265', 'mjpeg']
const requestHeadBytes = 8
const sizeBytes = 8
const replyHeadBytes = 5

/** The complete message, in parts, so that the frame is not copied. */
export function writeRequest({ codec, config, data, sizes }: DecodeRequest): Uint8Array[] {
  const headBytes = requestHeadBytes + sizes.length * sizeBytes
  const head = new DataView(new ArrayBuffer(4 + headBytes))
  head.setUint32(0, headBytes + config.length + data.length)
  head.setUint8(4, codecs.indexOf(codec))
  head.setUint8(5, sizes.length)
  head.setUint32(8, config.length)
  for (const [i, { maxWidth, maxHeight }] of sizes.entries()) {
    const at = 4 + requestHeadBytes + i * sizeBytes
    head.setUint32(at, maxWidth ?? 0)
    head.setUint32(at + 4, maxHeight ?? 0)
  }
  return [new Uint8Array(head.buffer), config, data]
}

/** Throws 'corrupt'. The values share the message's memory. */
export function parseRequest(message: Uint8Array): DecodeRequest {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  if (message.length < requestHeadBytes) throw tooShort(message)
  const codec = codecs[view.getUint8(0)]
  const sizeCount = view.getUint8(1)
  const sizesEnd = requestHeadBytes + sizeCount * sizeBytes
  const configEnd = sizesEnd + view.getUint32(4)
  if (codec === undefined) throw new AppError('corrupt', `expected a codec in the request, got ${view.getUint8(0)}`)
  if (configEnd > message.length) throw tooShort(message)
  const sizes: ImageLimits[] = []
  for (let at = requestHeadBytes; at < sizesEnd; at += sizeBytes) {
    sizes.push({ maxWidth: view.getUint32(at) || undefined, maxHeight: view.getUint32(at + 4) || undefined })
  }
  return { codec, sizes, config: message.subarray(sizesEnd, configEnd), data: message.subarray(configEnd) }
}

/** The complete message, in parts. */
export function writeReply(reply: DecodeReply): Uint8Array[] {
  const isError = 'error' in reply
  const parts: Uint8Array[] = [
    Uint8Array.of(isError ? 1 : 0),
    u32(Math.min(0xffff_ffff, Math.round(reply.cpuMs * 1000))),
  ]
  if (isError) parts.push(new TextEncoder().encode(reply.error))
  else {
    for (const jpeg of reply.jpegs) parts.push(u32(jpeg.length), jpeg)
  }
  return [u32(parts.reduce((sum, part) => sum + part.length, 0)), ...parts]
}

/** Throws 'corrupt'. Images are copies, so that keeping one does not keep all of them. */
export function parseReply(message: Uint8Array): DecodeReply {
  const [kind] = message
  if (kind !== 0 && kind !== 1) throw new AppError('corrupt', `expected a reply of kind 0 or 1, got ${kind}`)
  if (message.length < replyHeadBytes) throw tooShort(message)
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  const cpuMs = view.getUint32(1) / 1000
  if (kind === 1) return { cpuMs, error: new TextDecoder().decode(message.subarray(replyHeadBytes)) }
  const jpegs: Uint8Array[] = []
  for (let at = replyHeadBytes; at < message.length; ) {
    const end = at + 4 <= message.length ? at + 4 + view.getUint32(at) : Number.POSITIVE_INFINITY
    if (end > message.length) throw tooShort(message)
    jpegs.push(new Uint8Array(message.subarray(at + 4, end)))
    at = end
  }
  return { cpuMs, jpegs }
}

function u32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff)
}

function tooShort(message: Uint8Array): AppError {
  return new AppError('corrupt', `expected a complete message, but it ends after ${message.length} bytes`)
}
