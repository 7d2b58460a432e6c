// Reads the properties of the tracks from an initialization section, for files whose index row is lost. Supports the
// sample entries that sample-entry.ts writes. ISO/IEC 14496-12 8.5.2; codec strings of RFC 6381 3.3 and ISO/IEC
// 14496-15 annex E.

import { AppError } from '../../base/error.ts'
import type { VideoFormat } from '../frame.ts'
import { hevcCodecString, parseHevcConfigProfile } from '../h265/hevc-config.ts'
import { type ScannedBox, scanBoxes } from './box-scanner.ts'

export type InitDescription = {
  /** RFC 6381 codec strings, separated by commas, in the order of the tracks. */
  readonly codecs: string
  /** Size of the video from its sample entry, in pixels. */
  readonly width: number
  readonly height: number
}

/** Throws 'corrupt' for a damaged section or one without a video track. */
export function describeInitSegment(init: Uint8Array): InitDescription {
  const entries = listEntries(init)
  const video = entries.find((entry) => videoEntryTypes.has(entry.type))
  if (!video) throw new AppError('corrupt', 'expected a video track in the initialization section, found none')
  const sizeAt = video.offset + video.headerBytes + 24
  const view = new DataView(init.buffer, init.byteOffset, init.byteLength)
  if (video.bytes < 8 + videoFieldBytes) throw new AppError('corrupt', `expected a complete ${video.type} entry`)
  return {
    codecs: entries.map((entry) => describeEntry(init, entry)).join(','),
    width: view.getUint16(sizeAt),
    height: view.getUint16(sizeAt + 2),
  }
}

/** Returns the codec of the video track and its decoder configuration. Throws 'corrupt' like `describeInitSegment`. */
export function findVideoConfig(init: Uint8Array): {
  readonly codec: VideoFormat['codec']
  readonly config: Uint8Array
} {
  const video = listEntries(init).find((entry) => videoEntryTypes.has(entry.type))
  if (!video) throw new AppError('corrupt', 'expected a video track in the initialization section, found none')
  const start = video.offset + video.headerBytes + videoFieldBytes
  const { boxes } = scanBoxes(init, start, video.offset + video.bytes)
  const config = boxes.find(({ type }) => type === 'avcC' || type === 'hvcC')
  if (!config) return { codec: 'mjpeg', config: new Uint8Array() }
  const content = init.subarray(config.offset + config.headerBytes, config.offset + config.bytes)
  return { codec: config.type === 'avcC' ? 'h264' : 'h265', config: content }
}

/**
 * Returns the codec of the audio track and the content of its decoder configuration; undefined without audio. Throws
 * 'corrupt'.
 */
export function findAudioConfig(
  init: Uint8Array,
): { readonly codec: 'aac' | 'opus'; readonly config: Uint8Array } | undefined {
  const entry = listEntries(init).find(({ type }) => type === 'mp4a' || type === 'Opus')
  if (!entry) return undefined
  const { boxes } = scanBoxes(init, entry.offset + entry.headerBytes + audioFieldBytes, entry.offset + entry.bytes)
  const contentOf = (type: string) => {
    const found = boxes.find((box) => box.type === type)
    return found && init.subarray(found.offset + found.headerBytes, found.offset + found.bytes)
  }
  if (entry.type === 'Opus') return { codec: 'opus', config: contentOf('dOps') ?? new Uint8Array() }
  const decoder = findDescriptor(contentOf('esds')?.subarray(4) ?? new Uint8Array(), [0x03, 0x04])
  return { codec: 'aac', config: (decoder && findDescriptor(decoder.subarray(13), [0x05])) ?? new Uint8Array() }
}

/** Returns the first sample entry of each track. */
function listEntries(init: Uint8Array): ScannedBox[] {
  return find(init, undefined, ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd']).flatMap((stsd) =>
    // The entries follow version, flags and the number of entries.
    scanBoxes(init, stsd.offset + stsd.headerBytes + 8, stsd.offset + stsd.bytes).boxes.slice(0, 1),
  )
}

const videoEntryTypes: ReadonlySet<string> = new Set(['avc1', 'avc3', 'hvc1', 'hev1', 'mp4v', 'jpeg', 'mjpa'])
const videoFieldBytes = 78
const audioFieldBytes = 28

function describeEntry(init: Uint8Array, entry: ScannedBox): string {
  const fieldBytes = videoEntryTypes.has(entry.type) ? videoFieldBytes : audioFieldBytes
  const start = entry.offset + entry.headerBytes + fieldBytes
  const { boxes } = scanBoxes(init, start, entry.offset + entry.bytes)
  const configOf = (type: string) => {
    const found = boxes.find((box) => box.type === type)
    return found && init.subarray(found.offset + found.headerBytes, found.offset + found.bytes)
  }
  const avc = configOf('avcC')
  if (avc && avc.length >= 4) return `${entry.type}.${hex(avc.subarray(1, 4))}`
  const hevc = configOf('hvcC')
  if (hevc) return hevcCodecString(parseHevcConfigProfile(hevc)).replace('hvc1', entry.type)
  const esds = configOf('esds')
  if (esds) return `${entry.type}.${describeElementaryStream(esds)}`
  return entry.type === 'Opus' ? 'opus' : entry.type
}

/** Object type indication of the decoder and, for MPEG-4 audio, the audio object type. ISO/IEC 14496-1 7.2.6. */
function describeElementaryStream(esds: Uint8Array): string {
  const decoder = findDescriptor(esds.subarray(4), [0x03, 0x04])
  const indication = (decoder?.[0] ?? 0).toString(16).toUpperCase()
  const specific = decoder && findDescriptor(decoder.subarray(13), [0x05])
  return specific && specific.length > 0 ? `${indication}.${specific[0]! >> 3}` : indication
}

/** Returns the content of nested descriptors, following the first one of each tag. */
function findDescriptor(bytes: Uint8Array, [tag, ...inner]: readonly number[]): Uint8Array | undefined {
  let length = 0
  let at = 1
  for (let more = true; more; at++) {
    const byte = bytes[at] ?? 0
    length = length * 128 + (byte & 0x7f)
    more = byte >= 0x80
  }
  if (bytes[0] !== tag) return undefined
  const content = bytes.subarray(at, at + length)
  // Fields before the child descriptors: for tag 0x03, an id and flags.
  return inner.length > 0 ? findDescriptor(content.subarray(tag === 0x03 ? 3 : 0), inner) : content
}

function find(bytes: Uint8Array, parent: ScannedBox | undefined, [type, ...inner]: readonly string[]): ScannedBox[] {
  const { boxes } = parent
    ? scanBoxes(bytes, parent.offset + parent.headerBytes, parent.offset + parent.bytes)
    : scanBoxes(bytes)
  const found = boxes.filter((box) => box.type === type)
  return inner.length > 0 ? found.flatMap((box) => find(bytes, box, inner)) : found
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
