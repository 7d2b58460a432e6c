// A picture a scene is drawn into: planar YUV 4:2:0, as an H.264 encoder takes it. Only storage and colour; shapes:
// paint.ts.

/** Planar YUV 4:2:0 (I420), BT.709, limited range. `y`, `u` and `v` are views into `data`. Width and height are even. */
export type Picture = {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
  readonly y: Uint8Array
  readonly u: Uint8Array
  readonly v: Uint8Array
}

/** A colour as its three samples, BT.709 limited range: y 16–235, u and v 16–240. */
export type Colour = { readonly y: number; readonly u: number; readonly v: number }

/** A black picture. Width and height are rounded down to even numbers. */
export function createPicture(width: number, height: number): Picture {
  const evenWidth = width & ~1
  const evenHeight = height & ~1
  const lumaBytes = evenWidth * evenHeight
  const data = new Uint8Array(lumaBytes + lumaBytes / 2)
  const y = data.subarray(0, lumaBytes).fill(16)
  const u = data.subarray(lumaBytes, lumaBytes + lumaBytes / 4).fill(128)
  const v = data.subarray(lumaBytes + lumaBytes / 4).fill(128)
  return { width: evenWidth, height: evenHeight, data, y, u, v }
}

/** `#rrggbb` in samples. */
export function colour(hex: string): Colour {
  const value = Number.parseInt(hex.slice(1), 16)
  const r = value >> 16
  const g = (value >> 8) & 255
  const b = value & 255
  const luma = 0.2126 * r + 0.7152 * g + 0.0722 * b
  return {
    y: 16 + (luma * 219) / 255,
    u: 128 + (((b - luma) / 1.8556) * 224) / 255,
    v: 128 + (((r - luma) / 1.5748) * 224) / 255,
  }
}

/** The colour `share` of the way from `a` to `b`. */
export function mix(a: Colour, b: Colour, share: number): Colour {
  return { y: a.y + (b.y - a.y) * share, u: a.u + (b.u - a.u) * share, v: a.v + (b.v - a.v) * share }
}
