// The box behind the checksum box of a fragment that describes a hole before the fragment (how long there was no video,
// and why) and marks damaged frames. It is a `uuid` box (ISO/IEC 14496-12 11.1), which other readers skip. Only
// fragments with a hole or damage have one. The checksum covers it.

export type NotedHole = {
  readonly durationMs: number
  /** ASCII, at most 64 characters. */
  readonly reason: string
  /** The decode times continue as if there were no hole. */
  readonly isCut: boolean
}

export type FragmentNote = {
  readonly hole: NotedHole | undefined
  readonly isDamaged: boolean
}

/** The type of this extension. No other program writes boxes of this type. */
const type = Uint8Array.of(
  ...[0x3c, 0x1f, 0x5e, 0x0a, 0x72, 0xd4, 0x4b, 0x8e],
  ...[0xb1, 0x6d, 0x07, 0xe9, 0x2a, 0xc5, 0x90, 0x4f],
)

const headBytes = 29
const maxReasonBytes = 64
const flags = { isCut: 1, isDamaged: 2, hasHole: 4 } as const

export function writeFragmentNote({ hole, isDamaged }: FragmentNote): Uint8Array {
  const text = new TextEncoder().encode(hole?.reason ?? '').subarray(0, maxReasonBytes)
  const out = new Uint8Array(headBytes + text.length)
  const view = new DataView(out.buffer)
  view.setUint32(0, out.length)
  view.setUint32(4, 0x75756964 /* uuid */)
  out.set(type, 8)
  out[24] = (hole ? flags.hasHole : 0) | (hole?.isCut ? flags.isCut : 0) | (isDamaged ? flags.isDamaged : 0)
  view.setUint32(25, Math.min(0xffffffff, Math.max(0, Math.round(hole?.durationMs ?? 0))))
  out.set(text, headBytes)
  return out
}

/** Parses bytes that begin with a complete box. Returns undefined when it is not a note. */
export function parseFragmentNote(bytes: Uint8Array): FragmentNote | undefined {
  if (bytes.length < headBytes || !type.every((byte, i) => bytes[8 + i] === byte)) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const length = view.getUint32(0)
  if (length < headBytes || length > headBytes + maxReasonBytes || length > bytes.length) return undefined
  if (view.getUint32(4) !== 0x75756964) return undefined
  const set = bytes[24]!
  const reason = new TextDecoder().decode(bytes.subarray(headBytes, length))
  const hole = { durationMs: view.getUint32(25), reason, isCut: (set & flags.isCut) !== 0 }
  return { hole: set & flags.hasHole ? hole : undefined, isDamaged: (set & flags.isDamaged) !== 0 }
}
