// ISO base media boxes as plain values, and their bytes (ISO/IEC 14496-12 4.2). Used for the small boxes at the start
// of a file. The boxes of each fragment are written by the faster code in media-fragment.ts.

/** Part of a box: bytes as numbers, raw bytes, or a child box. */
export type BoxPart = readonly number[] | Uint8Array | Box

export type Box = { readonly type: string; readonly parts: readonly BoxPart[] }

export const box = (type: string, ...parts: BoxPart[]): Box => ({ type, parts })

/** A box that begins with a version and 24 bits of flags. */
export const fullBox = (type: string, version: number, flags: number, ...parts: BoxPart[]): Box => ({
  type,
  parts: [u32((version << 24) | flags), ...parts],
})

export const u8 = (...values: number[]): number[] => values
export const u16 = (...values: number[]): number[] => values.flatMap((v) => [(v >>> 8) & 0xff, v & 0xff])
export const u32 = (...values: number[]): number[] =>
  values.flatMap((v) => [(v >>> 24) & 0xff, (v >>> 16) & 0xff, (v >>> 8) & 0xff, v & 0xff])
/** Unsigned 16.16 fixed point. */
export const fixed16 = (value: number): number[] => u32(Math.round(value * 0x10000))
export const zeros = (count: number): number[] => new Array<number>(count).fill(0)
export const ascii = (text: string): number[] => Array.from(text, (c) => c.charCodeAt(0))

/** The length of consecutive boxes. */
export function countBytes(boxes: readonly Box[]): number {
  return boxes.reduce((sum, b) => sum + boxBytes(b), 0)
}

/** Returns the bytes of consecutive boxes. */
export function writeBoxes(boxes: readonly Box[]): Uint8Array {
  const out = new Uint8Array(countBytes(boxes))
  const view = new DataView(out.buffer)
  let at = 0
  for (const b of boxes) at = writeBox(out, view, at, b)
  return out
}

function boxBytes(b: Box): number {
  return b.parts.reduce((sum, part) => sum + (isBox(part) ? boxBytes(part) : part.length), 8)
}

function writeBox(out: Uint8Array, view: DataView, start: number, b: Box): number {
  let at = start + 8
  for (const part of b.parts) {
    if (isBox(part)) at = writeBox(out, view, at, part)
    else {
      out.set(part, at)
      at += part.length
    }
  }
  view.setUint32(start, at - start)
  out.set(ascii(b.type), start + 4)
  return at
}

function isBox(part: BoxPart): part is Box {
  return 'type' in part
}
