// A valid JPEG that takes a decoder a second for each 50 kB: a progressive image of 40 million pixels with thousands of
// scans, each of which changes no block (ITU-T T.81 G.1.2.2).

const width = 6304
const height = 6304
const blocks = (width / 8) * (height / 8)

/** Writes the shortest file with this many scans. Its dimensions are below every pixel limit. */
export function writeSlowJpeg(scans: number): Uint8Array {
  const scan = [...startOfScan(1, 63), ...writeEmptyRuns()]
  return Uint8Array.from([
    ...[0xff, 0xd8],
    ...segment(0xdb, [0, ...new Array<number>(64).fill(1)]),
    ...segment(0xc2, [8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0]),
    // One code of one bit each: no difference (DC), and an end-of-band run (AC).
    ...segment(0xc4, [0x00, 1, ...new Array<number>(15).fill(0), 0x00]),
    ...segment(0xc4, [0x10, 1, ...new Array<number>(15).fill(0), 0xe0]),
    ...startOfScan(0, 0),
    ...new Uint8Array(Math.ceil(blocks / 8)),
    ...Array.from({ length: scans }, () => scan).flat(),
    ...[0xff, 0xd9],
  ])
}

function segment(marker: number, body: readonly number[]): number[] {
  const length = body.length + 2
  return [0xff, marker, length >> 8, length & 255, ...body]
}

function startOfScan(first: number, last: number): number[] {
  return segment(0xda, [1, 1, 0, first, last, 0])
}

/** Runs of 16384 + 0b10101010101010 blocks: a zero, then those bits. */
function writeEmptyRuns(): number[] {
  const bits = '010101010101010'.repeat(Math.ceil(blocks / (16_384 + 0b10101010101010)))
  return (bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2))
}
