// Divides a live stream for Media Source (server/live/mse-stream.ts) into what is appended to each source buffer.
// ISO/IEC 14496-12.

export type LiveTrack = 'video' | 'audio'

/** Something to append. Times are in seconds on the time axis of the stream. */
export type LivePart = {
  readonly track: LiveTrack
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The frame; undefined for initialization sections and audio. */
  readonly frame: LiveFrame | undefined
}

export type LiveFrame = {
  readonly seconds: number
  /** When it was captured, Unix milliseconds by the clock of the server. */
  readonly wallMs: number
  readonly isKey: boolean
}

const videoTimescale = 90_000
/** Larger than any frame. A stream that claims more is not one of ours. */
const maxBoxBytes = 64 * 1024 * 1024
const ntpMinusUnixSeconds = 2_208_988_800
const ntpEraSeconds = 0x100000000

export class LiveFragments {
  #rest = new Uint8Array(0)
  /** Boxes that belong to the next part. */
  #begun: Uint8Array[] = []
  #track: LiveTrack = 'video'
  #tracks = 0
  #wallMs = 0
  #frame: LiveFrame | undefined

  /** The parts that these bytes complete. Throws an Error for a stream that is none of ours. */
  push(bytes: Uint8Array): LivePart[] {
    const all = this.#rest.length === 0 ? bytes : concat([this.#rest, bytes])
    const view = new DataView(all.buffer, all.byteOffset, all.byteLength)
    const parts: LivePart[] = []
    let at = 0
    while (at + 8 <= all.length) {
      const size = view.getUint32(at)
      if (size < 8 || size > maxBoxBytes) throw new Error(`a box of ${size} bytes`)
      if (at + size > all.length) break
      const part = this.#take(all.subarray(at, at + size), view.getUint32(at + 4))
      if (part) parts.push(part)
      at += size
    }
    this.#rest = all.slice(at)
    return parts
  }

  #take(box: Uint8Array, type: number): LivePart | undefined {
    const view = new DataView(box.buffer, box.byteOffset, box.byteLength)
    if (type === 0x70726674 /* prft */) this.#wallMs = readNtp(view)
    else this.#begun.push(box)
    if (type === 0x6d6f6f76 /* moov */) {
      this.#track = this.#tracks++ === 0 ? 'video' : 'audio'
      return this.#finish(undefined)
    }
    if (type === 0x6d6f6f66 /* moof */) this.#readFragment(view)
    return type === 0x6d646174 /* mdat */ ? this.#finish(this.#frame) : undefined
  }

  #finish(frame: LiveFrame | undefined): LivePart {
    const part = { track: this.#track, bytes: concat(this.#begun), frame }
    this.#begun = []
    return part
  }

  #readFragment(view: DataView): void {
    const traf = findBox(view, 8, view.byteLength, 0x74726166)
    const tfhd = traf && findBox(view, traf.start, traf.end, 0x74666864)
    const tfdt = traf && findBox(view, traf.start, traf.end, 0x74666474)
    if (!tfhd || !tfdt) throw new Error('a fragment without a time')
    const flags = view.getUint32(tfhd.start) & 0xffffff
    this.#track = view.getUint32(tfhd.start + 4) === 1 ? 'video' : 'audio'
    // Of a fragment with one sample, the flags are its own.
    const flagsAt = tfhd.start + 8 + (flags & 0x08 ? 4 : 0)
    // Decoding can also begin at a frame from which on the image is refreshed gradually.
    const isRecovery = findBox(view, traf.start, traf.end, 0x73677064 /* sgpd */) !== undefined
    const isKey = isRecovery || ((flags & 0x20) !== 0 && ((view.getUint32(flagsAt) >>> 24) & 3) === 2)
    const time = view.getUint32(tfdt.start + 4) * 0x100000000 + view.getUint32(tfdt.start + 8)
    this.#frame = this.#track === 'video' ? { seconds: time / videoTimescale, wallMs: this.#wallMs, isKey } : undefined
  }
}

function findBox(view: DataView, from: number, to: number, type: number) {
  for (let at = from; at + 8 <= to; ) {
    const size = view.getUint32(at)
    if (size < 8 || at + size > to) return undefined
    if (view.getUint32(at + 4) === type) return { start: at + 8, end: at + size }
    at += size
  }
  return undefined
}

function readNtp(view: DataView): number {
  const seconds = view.getUint32(16)
  const era = seconds < 0x80000000 ? ntpEraSeconds : 0
  return (seconds + era - ntpMinusUnixSeconds + view.getUint32(20) / 0x100000000) * 1000
}

export function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}
