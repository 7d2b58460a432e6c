// Shapes with soft edges, painted into a YUV picture. Cheap: one pass over the pixels a shape covers, no allocation in
// it.

import type { Colour, Picture } from './picture.ts'
import { mix } from './picture.ts'

/** Sub-lines per line of pixels: how finely upper and lower edges are smoothed. */
const subLines = 3

/**
 * Paints on one picture. Coordinates are pixels of a picture of 960×540 and are scaled to the real size, so that a scene
 * looks the same in every size.
 */
export class Painter {
  readonly picture: Picture
  readonly #scaleX: number
  readonly #scaleY: number
  /** Change of coverage from pixel to pixel, one line each for the upper and the lower line of a chroma row. */
  readonly #steps: readonly Float64Array[]
  readonly #coverage: readonly Float64Array[]
  /** Where the pair of lines being worked on has steps. */
  #left: number
  #right = 0

  constructor(picture: Picture) {
    this.picture = picture
    this.#scaleX = picture.width / 960
    this.#scaleY = picture.height / 540
    this.#left = picture.width
    const size = picture.width + 3
    this.#steps = [new Float64Array(size), new Float64Array(size)]
    this.#coverage = [new Float64Array(size), new Float64Array(size)]
  }

  /** `points` = x0, y0, x1, y1, …, of an outline that does not cross itself. */
  polygon(points: readonly number[], colour: Colour, opacity = 1): void {
    const count = points.length
    let top = Number.POSITIVE_INFINITY
    let bottom = Number.NEGATIVE_INFINITY
    for (let i = 1; i < count; i += 2) {
      top = Math.min(top, points[i]! * this.#scaleY)
      bottom = Math.max(bottom, points[i]! * this.#scaleY)
    }
    for (let line = this.#firstLine(top); line < this.#endLine(bottom); line++) {
      for (let i = 0, j = count - 2; i < count; j = i, i += 2) {
        this.#addEdge(line, points[j]!, points[j + 1]!, points[i]!, points[i + 1]!)
      }
      this.#finishLine(line, colour, opacity)
    }
  }

  /** Adds what lies to the right of the edge within the line; the other edges take away again what is outside. */
  #addEdge(line: number, x0: number, y0: number, x1: number, y1: number): void {
    const startY = y0 * this.#scaleY
    const endY = y1 * this.#scaleY
    if (startY === endY || Math.max(startY, endY) <= line || Math.min(startY, endY) >= line + 1) return
    const slope = ((x1 - x0) * this.#scaleX) / (endY - startY)
    const weight = (endY > startY ? 1 : -1) / subLines
    for (let sub = 0; sub < subLines; sub++) {
      const y = line + (sub + 0.5) / subLines
      if (startY <= y === endY <= y) continue
      this.#addFrom(line & 1, x0 * this.#scaleX + (y - startY) * slope, weight)
    }
  }

  rectangle(x: number, y: number, width: number, height: number, colour: Colour, opacity = 1): void {
    const left = x * this.#scaleX
    const right = (x + width) * this.#scaleX
    const top = y * this.#scaleY
    const bottom = (y + height) * this.#scaleY
    for (let line = this.#firstLine(top); line < this.#endLine(bottom); line++) {
      const weight = Math.min(bottom, line + 1) - Math.max(top, line)
      if (weight > 0) {
        this.#addFrom(line & 1, left, weight)
        this.#addFrom(line & 1, right, -weight)
      }
      this.#finishLine(line, colour, opacity)
    }
  }

  ellipse(x: number, y: number, radiusX: number, radiusY: number, colour: Colour, opacity = 1): void {
    const centreX = x * this.#scaleX
    const centreY = y * this.#scaleY
    const rx = radiusX * this.#scaleX
    const ry = radiusY * this.#scaleY
    for (let line = this.#firstLine(centreY - ry); line < this.#endLine(centreY + ry); line++) {
      for (let sub = 0; sub < subLines; sub++) {
        const share = (line + (sub + 0.5) / subLines - centreY) / ry
        if (share * share >= 1) continue
        const half = rx * Math.sqrt(1 - share * share)
        this.#addFrom(line & 1, centreX - half, 1 / subLines)
        this.#addFrom(line & 1, centreX + half, -1 / subLines)
      }
      this.#finishLine(line, colour, opacity)
    }
  }

  disc(x: number, y: number, radius: number, colour: Colour, opacity = 1): void {
    this.ellipse(x, y, radius, radius, colour, opacity)
  }

  /** A line with flat ends. */
  line(x0: number, y0: number, x1: number, y1: number, thickness: number, colour: Colour, opacity = 1): void {
    const length = Math.hypot(x1 - x0, y1 - y0) || 1
    const dx = (((y1 - y0) / length) * thickness) / 2
    const dy = (((x0 - x1) / length) * thickness) / 2
    this.polygon([x0 + dx, y0 + dy, x1 + dx, y1 + dy, x1 - dx, y1 - dy, x0 - dx, y0 - dy], colour, opacity)
  }

  /** Light around a point: strongest in the middle, gone at `radius`. */
  glow(x: number, y: number, radius: number, colour: Colour, opacity = 1): void {
    const { width, height, y: luma, u, v } = this.picture
    const half = width / 2
    const scale = 1 / (radius * radius)
    const strength = (px: number, py: number) => {
      const dx = px / this.#scaleX - x
      const dy = py / this.#scaleY - y
      const rest = 1 - (dx * dx + dy * dy) * scale
      return rest > 0 ? rest * rest * opacity : 0
    }
    const left = Math.max(0, Math.floor((x - radius) * this.#scaleX)) & ~1
    const right = Math.min(width, Math.ceil((x + radius) * this.#scaleX))
    const top = Math.max(0, Math.floor((y - radius) * this.#scaleY)) & ~1
    const bottom = Math.min(height, Math.ceil((y + radius) * this.#scaleY))
    for (let py = top; py < bottom; py++) {
      for (let px = left; px < right; px++) {
        const at = py * width + px
        luma[at]! += (colour.y - luma[at]!) * strength(px + 0.5, py + 0.5)
      }
    }
    for (let py = top; py < bottom; py += 2) {
      for (let px = left; px < right; px += 2) {
        const at = (py >> 1) * half + (px >> 1)
        const share = strength(px + 1, py + 1)
        u[at]! += (colour.u - u[at]!) * share
        v[at]! += (colour.v - v[at]!) * share
      }
    }
  }

  /** Fills the full width from `top` to `bottom`, from one colour to the next; dithered, so that no bands show. */
  gradient(top: number, bottom: number, stops: readonly Colour[], random: () => number): void {
    const { width, height, y: luma, u, v } = this.picture
    const first = Math.max(0, Math.round(top * this.#scaleY))
    const last = Math.min(height, Math.round(bottom * this.#scaleY))
    for (let py = first; py < last; py++) {
      const place = ((py - first) / Math.max(1, last - first - 1)) * (stops.length - 1)
      const stop = Math.min(Math.floor(place), stops.length - 2)
      const shade = mix(stops[stop]!, stops[stop + 1]!, place - stop)
      for (let px = 0; px < width; px++) luma[py * width + px] = shade.y + random()
      if (py & 1) continue
      const row = (py >> 1) * (width / 2)
      for (let px = 0; px < width / 2; px++) {
        u[row + px] = shade.u + random()
        v[row + px] = shade.v + random()
      }
    }
  }

  /** Lines are worked off in pairs, as chroma has one line for two. */
  #firstLine(top: number): number {
    return Math.max(0, Math.floor(top)) & ~1
  }

  #endLine(bottom: number): number {
    return Math.min(this.picture.height, (Math.ceil(bottom) + 1) & ~1)
  }

  /** Raises the coverage of everything from `x` to the right edge by `weight`. */
  #addFrom(half: number, x: number, weight: number): void {
    const { width } = this.picture
    const at = Math.min(Math.max(x, 0), width)
    const pixel = Math.floor(at)
    const steps = this.#steps[half]!
    steps[pixel]! += weight * (1 - (at - pixel))
    steps[pixel + 1]! += weight * (at - pixel)
    if (pixel < this.#left) this.#left = pixel
    if (pixel + 2 > this.#right) this.#right = pixel + 2
  }

  #finishLine(line: number, colour: Colour, opacity: number): void {
    if (!(line & 1)) return
    const left = this.#left & ~1
    const right = Math.min(this.picture.width, (this.#right + 1) & ~1)
    if (left < right) {
      this.#blendLuma(line - 1, 0, left, right, colour.y, opacity)
      this.#blendLuma(line, 1, left, right, colour.y, opacity)
      this.#blendChroma(line >> 1, left, right, colour)
    }
    // A span that ends at the right edge leaves its last steps behind the picture; they must not leak into the next shape.
    const { width } = this.picture
    for (let half = 0; half < 2; half++) {
      const steps = this.#steps[half]!
      steps[width] = 0
      steps[width + 1] = 0
    }
    this.#left = width
    this.#right = 0
  }

  #blendLuma(line: number, half: number, left: number, right: number, sample: number, opacity: number): void {
    const { width, y: luma } = this.picture
    const steps = this.#steps[half]!
    const coverage = this.#coverage[half]!
    const start = line * width
    let covered = 0
    for (let px = left; px < right; px++) {
      const step = steps[px]!
      if (step !== 0) {
        covered += step
        steps[px] = 0
      }
      const share = Math.abs(covered) * opacity
      coverage[px] = share
      if (share > 0.996) luma[start + px] = sample
      else if (share > 0.004) luma[start + px] = luma[start + px]! + (sample - luma[start + px]!) * share + 0.5
    }
  }

  #blendChroma(line: number, left: number, right: number, { u: sampleU, v: sampleV }: Colour): void {
    const { width, u, v } = this.picture
    const upper = this.#coverage[0]!
    const lower = this.#coverage[1]!
    const start = line * (width >> 1)
    for (let px = left; px < right; px += 2) {
      const share = (upper[px]! + upper[px + 1]! + lower[px]! + lower[px + 1]!) * 0.25
      if (share <= 0.004) continue
      const at = start + (px >> 1)
      u[at] = u[at]! + (sampleU - u[at]!) * share + 0.5
      v[at] = v[at]! + (sampleV - v[at]!) * share + 0.5
    }
  }
}
