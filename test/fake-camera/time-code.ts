// A strip of black and white cells along the foot of a picture that says which frame this is and when it was made.
//
// Its place and size are shares of the picture's, so it is found again in a picture scaled as a whole (down to a
// quarter of 960 pixels and less), and its cells are large enough to outlast H.264 and JPEG. No foreign standard: ours,
// read by our tests.

/** The strip's share of the picture's width (from the left edge) and height (from the lower edge). */
export const timeCodeWidth = 50 / 60
export const timeCodeHeight = 2 / 33.75

const rowCount = 2
const dataColumns = 48
/** A white cell before and a black one after the data of each row: the reader's measure of white and black. */
const columns = dataColumns + 2
const white = 225
const black = 24

export type TimeCode = {
  /** When the frame was made by the clock of its camera, Unix milliseconds. */
  readonly unixMs: number
  /** Counts the camera's frames, 32 bits. */
  readonly frameNumber: number
}

/** Draws the strip into a luma plane of `width` × `height` bytes without padding. */
export function drawTimeCode(luma: Uint8Array, width: number, height: number, code: TimeCode): void {
  const bits = writeBits(code)
  for (let row = 0; row < rowCount; row++) {
    const [top, bottom] = rowEdges(row, height)
    for (let column = 0; column < columns; column++) {
      const isWhite = column === 0 || (column <= dataColumns && bits[row * dataColumns + column - 1] === 1)
      const left = Math.round((column * timeCodeWidth * width) / columns)
      const right = Math.round(((column + 1) * timeCodeWidth * width) / columns)
      for (let y = top; y < bottom; y++) luma.fill(isWhite ? white : black, y * width + left, y * width + right)
    }
  }
}

/**
 * Reads the strip from a whole picture of `width` × `height`: luma only (1 byte a pixel), RGB (3) or RGBA (4), told apart by
 * the length. Undefined when there is no strip, or one damaged beyond reading (its checksum fails).
 */
export function readTimeCode(
  pixels: Uint8Array | Uint8ClampedArray,
  width: number,
  height: number,
): TimeCode | undefined {
  const pixelBytes = pixels.length / (width * height)
  if (pixelBytes !== 1 && pixelBytes !== 3 && pixelBytes !== 4) return undefined
  const bits: number[] = []
  for (let row = 0; row < rowCount; row++) {
    const cells = Array.from({ length: columns }, (_, column) =>
      meanOfCell(pixels, width, height, pixelBytes, row, column),
    )
    const brightest = cells[0]!
    const darkest = cells[columns - 1]!
    if (brightest - darkest < 60) return undefined
    for (const cell of cells.slice(1, -1)) bits.push(cell > (brightest + darkest) / 2 ? 1 : 0)
  }
  return readBits(bits)
}

/** Mean brightness of the middle of a cell; green stands for the brightness of a colour picture: the strip has none. */
function meanOfCell(
  pixels: Uint8Array | Uint8ClampedArray,
  width: number,
  height: number,
  pixelBytes: number,
  row: number,
  column: number,
): number {
  const cellWidth = (timeCodeWidth * width) / columns
  const cellHeight = (timeCodeHeight * height) / rowCount
  const left = Math.floor((column + 0.3) * cellWidth)
  const right = Math.max(left + 1, Math.ceil((column + 0.7) * cellWidth))
  const upper = height * (1 - timeCodeHeight) + row * cellHeight
  const top = Math.floor(upper + 0.3 * cellHeight)
  const bottom = Math.max(top + 1, Math.ceil(upper + 0.7 * cellHeight))
  const channel = pixelBytes === 1 ? 0 : 1
  let sum = 0
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) sum += pixels[(y * width + x) * pixelBytes + channel]!
  }
  return sum / ((bottom - top) * (right - left))
}

function rowEdges(row: number, height: number): [top: number, bottom: number] {
  const upper = height * (1 - timeCodeHeight)
  const rowHeight = (height * timeCodeHeight) / rowCount
  return [Math.round(upper + row * rowHeight), Math.min(height, Math.round(upper + (row + 1) * rowHeight))]
}

/** 48 bits of time, 32 of frame number, 16 of checksum; most significant first. Every other bit inverted, so that no long
 * run of one colour appears. */
function writeBits({ unixMs, frameNumber }: TimeCode): number[] {
  const bytes = new Uint8Array(12)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, Math.floor(unixMs / 2 ** 32))
  view.setUint32(2, Math.floor(unixMs) % 2 ** 32)
  view.setUint32(6, frameNumber >>> 0)
  view.setUint16(10, crc16(bytes.subarray(0, 10)))
  return Array.from({ length: 96 }, (_, i) => ((bytes[i >> 3]! >> (7 - (i & 7))) & 1) ^ (i & 1))
}

function readBits(bits: readonly number[]): TimeCode | undefined {
  const bytes = new Uint8Array(12)
  for (const [i, bit] of bits.entries()) bytes[i >> 3]! |= (bit ^ (i & 1)) << (7 - (i & 7))
  const view = new DataView(bytes.buffer)
  if (view.getUint16(10) !== crc16(bytes.subarray(0, 10))) return undefined
  return { unixMs: view.getUint16(0) * 2 ** 32 + view.getUint32(2), frameNumber: view.getUint32(6) }
}

/** CRC-16/CCITT-FALSE: polynomial 0x1021, start 0xffff. */
function crc16(bytes: Uint8Array): number {
  let crc = 0xffff
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let i = 0; i < 8; i++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff
  }
  return crc
}
