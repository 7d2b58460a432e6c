// Identifies a stream by its first bytes: a container, JPEG images, or an unsupported format whose name is shown to the
// owner of the camera. The container reader receives the format from here and never probes.

/** Formats have FFmpeg's names. */
export type ContainerFormat = 'mpegts' | 'flv' | 'mov' | 'matroska' | 'h264' | 'hevc'

export type FoundContent =
  | { readonly kind: 'container'; readonly format: ContainerFormat }
  /** One or more JPEG files, with or without other bytes between them. */
  | { readonly kind: 'jpeg' }
  /** A known format that is not supported. */
  | { readonly kind: 'other'; readonly content: OtherContent }

export type OtherContent = 'program_stream' | 'hls' | 'dash' | 'sdp' | 'avi' | 'asf' | 'ogg' | 'rtsp'

/** Further bytes beyond this number do not change the result. */
export const maxProbeBytes = 4096

const tsPacketBytes = 188

/** Returns undefined when more bytes are needed, or when the format stays unknown (see `maxProbeBytes`). */
export function findContainer(head: Uint8Array): FoundContent | undefined {
  if (head[0] === 0xff && head[1] === 0xd8) return { kind: 'jpeg' }
  const format = findBinary(head)
  if (format) return { kind: 'container', format }
  if (readWord(head, 0) === 0x000001ba) return { kind: 'other', content: 'program_stream' }
  const text = String.fromCharCode(...head.subarray(0, 256))
    .replace(/^ï»¿/, '')
    .trimStart()
  if (text.startsWith('--') || /^content-(type|length):/i.test(text)) return { kind: 'jpeg' }
  for (const [content, pattern] of others) if (pattern.test(text)) return { kind: 'other', content }
  return undefined
}

const others: readonly (readonly [OtherContent, RegExp])[] = [
  ['hls', /^#EXTM3U/],
  ['dash', /^(<\?xml[^>]*>\s*)?(<!--[^>]*-->\s*)?<MPD[\s>]/],
  ['sdp', /^v=0\r?\n[a-z]=/],
  ['avi', /^RIFF....AVI /s],
  ['asf', /^0&\xb2u\x8ef\xcf/],
  ['ogg', /^OggS/],
  ['rtsp', /^(RTSPtextURL|\[reference\]|rtspu?:\/\/)/i],
]

function findBinary(head: Uint8Array): ContainerFormat | undefined {
  const word = readWord(head, 0)
  if (word === 0x1a45dfa3) return 'matroska'
  if (word >>> 8 === 0x464c56) return 'flv'
  if (head.length >= 8 && boxTypes.has(readWord(head, 4))) return 'mov'
  return findByteStream(head) ?? (isTransportStream(head) ? 'mpegts' : undefined)
}

/** Types of boxes that a file or a stream of fragments may begin with (ISO/IEC 14496-12). */
const boxTypes: ReadonlySet<number> = new Set(
  ['ftyp', 'styp', 'moov', 'moof', 'sidx', 'emsg', 'prft', 'free', 'skip'].map((name) =>
    readWord(new TextEncoder().encode(name), 0),
  ),
)

/** Recognizes NAL units with start codes. The header of the first one tells the codec. */
function findByteStream(head: Uint8Array): ContainerFormat | undefined {
  const at = readWord(head, 0) === 1 ? 4 : readWord(head, 0) >>> 8 === 1 ? 3 : -1
  if (at === -1 || head.length < at + 2) return undefined
  const first = head[at]!
  // H.265 parameter sets, delimiter and SEI of layer 0 and temporal layer 0. None of these values is an H.264 header.
  if (head[at + 1] === 1 && [0x40, 0x42, 0x44, 0x46, 0x4e].includes(first)) return 'hevc'
  return first < 0x80 && [1, 5, 6, 7, 8, 9].includes(first & 0x1f) ? 'h264' : undefined
}

/**
 * Recognizes a transport stream from any position: a sync byte within the length of the first packet, and three more at
 * the packet distance (188 bytes, or 192 with timestamps).
 */
function isTransportStream(head: Uint8Array): boolean {
  for (const distance of [tsPacketBytes, tsPacketBytes + 4]) {
    for (let at = 0; at < distance && at + 3 * distance < head.length; at++) {
      if ([0, 1, 2, 3].every((i) => head[at + i * distance] === 0x47)) return true
    }
  }
  return false
}

/** Reads four bytes; -1 when there are fewer. */
function readWord(bytes: Uint8Array, at: number): number {
  if (bytes.length < at + 4) return -1
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
}
