// The messages between a media worker and its audio process: big-endian, each preceded by its length in 4 bytes
// (message-stream.ts). Each chunk is answered by one reply, in order.

import { AppError } from '../../base/error.ts'
import { type TelephoneCoding, telephoneCodings } from '../../media/telephony/telephone-coding.ts'

export type AudioRequest =
  | { readonly type: 'open'; readonly streamId: number; readonly coding: TelephoneCoding; readonly sampleRate: number }
  /** As many samples as one AAC block takes. `number` counts the chunks of a stream. */
  | { readonly type: 'chunk'; readonly streamId: number; readonly number: number; readonly data: Uint8Array }
  | { readonly type: 'close'; readonly streamId: number }

export type AudioReply = {
  readonly streamId: number
  /** The number of the earlier chunk whose audio the block contains; undefined when no block is ready. */
  readonly number: number | undefined
  readonly data: Uint8Array
}

const types = ['open', 'chunk', 'close'] as const
const requestHeadBytes = 9
const replyHeadBytes = 8
const noNumber = 0xffffffff

/** The complete message, in parts. */
export function writeAudioRequest(request: AudioRequest): Uint8Array[] {
  const data = request.type === 'chunk' ? request.data : new Uint8Array()
  const head = new DataView(new ArrayBuffer(4 + requestHeadBytes))
  head.setUint32(0, requestHeadBytes + data.length)
  head.setUint8(4, types.indexOf(request.type))
  head.setUint32(5, request.streamId)
  if (request.type === 'chunk') head.setUint32(9, request.number)
  if (request.type === 'open') {
    head.setUint8(9, telephoneCodings.indexOf(request.coding))
    head.setUint16(10, request.sampleRate)
  }
  return [new Uint8Array(head.buffer), data]
}

/** Throws 'corrupt'. The data of a chunk shares the message's memory. */
export function parseAudioRequest(message: Uint8Array): AudioRequest {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  const type = message.length >= requestHeadBytes ? types[view.getUint8(0)] : undefined
  if (!type) throw new AppError('corrupt', `expected an audio request, got ${message.length} bytes`)
  const streamId = view.getUint32(1)
  if (type === 'close') return { type, streamId }
  if (type === 'chunk') {
    return { type, streamId, number: view.getUint32(5), data: message.subarray(requestHeadBytes) }
  }
  const coding = telephoneCodings[view.getUint8(5)]
  if (!coding) throw new AppError('corrupt', `expected a coding in the request, got ${view.getUint8(5)}`)
  return { type, streamId, coding, sampleRate: view.getUint16(6) }
}

/** The complete message, in parts. */
export function writeAudioReply({ streamId, number = noNumber, data }: AudioReply): Uint8Array[] {
  const head = new DataView(new ArrayBuffer(4 + replyHeadBytes))
  head.setUint32(0, replyHeadBytes + data.length)
  head.setUint32(4, streamId)
  head.setUint32(8, number)
  return [new Uint8Array(head.buffer), data]
}

/** Throws 'corrupt'. The block is a copy. */
export function parseAudioReply(message: Uint8Array): AudioReply {
  if (message.length < replyHeadBytes) throw new AppError('corrupt', `expected a reply, got ${message.length} bytes`)
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  const number = view.getUint32(4)
  return {
    streamId: view.getUint32(0),
    number: number === noNumber ? undefined : number,
    data: new Uint8Array(message.subarray(replyHeadBytes)),
  }
}
