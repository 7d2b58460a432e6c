// The messages from a container process to its media worker: big-endian, each preceded by its length in 4 bytes
// (message-stream.ts). In the other direction, the stream is sent without framing. docs/design/decoder.md

import { AppError } from '../../base/error.ts'
import type {
  ContainerAudio,
  ContainerEnd,
  ContainerPacket,
  ContainerTracks,
} from '../../media/container/container-stream.ts'

/** What the process itself reports. */
export type ReportedEnd = Exclude<ContainerEnd, { readonly kind: 'lost' | 'busy' }>

export type ContainerMessage =
  | { readonly type: 'tracks'; readonly tracks: ContainerTracks }
  | { readonly type: 'packet'; readonly packet: ContainerPacket }
  | { readonly type: 'end'; readonly end: ReportedEnd }

const types = ['tracks', 'packet', 'end'] as const
const ends = ['ended', 'unreadable', 'no_video', 'too_much', 'changed'] as const
const flags = { audio: 1, untimed: 2 } as const
const packetHeadBytes = 10
const codecNames = /^[a-z0-9_]{1,32}$/
const maxConfigBytes = 0xffff

/** The complete message. */
export function writeContainerMessage(message: ContainerMessage): Uint8Array {
  const content = writeContent(message)
  const bytes = new Uint8Array(4 + content.reduce((sum, part) => sum + part.length, 0))
  new DataView(bytes.buffer).setUint32(0, bytes.length - 4)
  let at = 4
  for (const part of content) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** Throws 'corrupt'. The content of a packet shares the message's memory. */
export function parseContainerMessage(message: Uint8Array): ContainerMessage {
  const type = types[message[0] ?? -1]
  if (type === 'packet') return { type, packet: parsePacket(message) }
  if (type === 'tracks') return { type, tracks: parseTracks(message) }
  const kind = ends[message[1] ?? -1]
  if (type !== 'end' || !kind)
    throw new AppError('corrupt', `expected a container message, got ${message.length} bytes`)
  return { type, end: { kind } }
}

function writeContent(message: ContainerMessage): Uint8Array[] {
  const type = Uint8Array.of(types.indexOf(message.type))
  if (message.type === 'end') return [type, Uint8Array.of(ends.indexOf(message.end.kind))]
  if (message.type === 'packet') return [writePacketHead(message.packet), message.packet.data]
  const { video, audio } = message.tracks
  const { sampleRate, channels, ...track } = audio ?? {
    codec: '',
    config: new Uint8Array(),
    sampleRate: 0,
    channels: 0,
  }
  const format = new DataView(new ArrayBuffer(5))
  format.setUint32(0, sampleRate)
  format.setUint8(4, channels)
  return [type, ...writeTrack(video), ...writeTrack(track), new Uint8Array(format.buffer)]
}

function writePacketHead({ kind, pts90k }: ContainerPacket): Uint8Array {
  const head = new DataView(new ArrayBuffer(packetHeadBytes))
  head.setUint8(0, types.indexOf('packet'))
  const untimed = pts90k === undefined ? flags.untimed : 0
  head.setUint8(1, (kind === 'audio' ? flags.audio : 0) | untimed)
  head.setFloat64(2, pts90k ?? 0)
  return new Uint8Array(head.buffer)
}

function parsePacket(message: Uint8Array): ContainerPacket {
  if (message.length < packetHeadBytes) throw tooShort(message)
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  const set = view.getUint8(1)
  const pts90k = view.getFloat64(2)
  if (!Number.isSafeInteger(pts90k)) throw new AppError('corrupt', `expected whole ticks, got ${pts90k}`)
  return {
    kind: set & flags.audio ? 'audio' : 'video',
    pts90k: set & flags.untimed ? undefined : pts90k,
    data: message.subarray(packetHeadBytes),
  }
}

type Track = { readonly codec: string; readonly config: Uint8Array }

function writeTrack({ codec, config }: Track): Uint8Array[] {
  if (config.length > maxConfigBytes)
    throw new AppError('invalid', `expected a configuration of at most ${maxConfigBytes} bytes, got ${config.length}`)
  const name = new TextEncoder().encode(codec)
  return [Uint8Array.of(name.length), name, Uint8Array.of(config.length >> 8, config.length & 0xff), config]
}

function parseTracks(message: Uint8Array): ContainerTracks {
  let at = 1
  const take = (bytes: number) => {
    if (at + bytes > message.length) throw tooShort(message)
    at += bytes
    return message.subarray(at - bytes, at)
  }
  const takeTrack = (): Track => {
    const codec = new TextDecoder('latin1').decode(take(take(1)[0]!))
    const [high, low] = take(2)
    return { codec, config: new Uint8Array(take((high! << 8) | low!)) }
  }
  const video = takeTrack()
  const audioTrack = takeTrack()
  const [a, b, c, d, channels] = take(5)
  const sampleRate = ((a! << 24) | (b! << 16) | (c! << 8) | d!) >>> 0
  if (!codecNames.test(video.codec)) throw new AppError('corrupt', 'expected a codec name')
  const audio: ContainerAudio | undefined = codecNames.test(audioTrack.codec)
    ? { ...audioTrack, sampleRate, channels: channels! }
    : undefined
  return { video, audio }
}

function tooShort(message: Uint8Array): AppError {
  return new AppError('corrupt', `expected a complete message, but it ends after ${message.length} bytes`)
}
