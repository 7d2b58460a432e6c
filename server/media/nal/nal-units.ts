// Lists of NAL units, for H.264 and H.265: with start codes in a byte stream (Annex B), with lengths in files (ISO/IEC
// 14496-15).

/** Returns the NAL units of a byte stream with start codes (Annex B) without trailing zeros, as views into `bytes`. */
export function listAnnexBNalUnits(bytes: Uint8Array): Uint8Array[] {
  const units: Uint8Array[] = []
  let start = -1
  for (let i = 0; i + 2 < bytes.length; i++) {
    if (bytes[i] !== 0 || bytes[i + 1] !== 0 || bytes[i + 2] !== 1) continue
    if (start >= 0) addUnit(units, bytes, start, i)
    start = i + 3
    i += 2
  }
  if (start >= 0) addUnit(units, bytes, start, bytes.length)
  return units
}

/** Returns the NAL units before, between and behind the start codes in `bytes`, as views. */
export function splitAtStartCodes(bytes: Uint8Array): Uint8Array[] {
  const first = findStartCode(bytes, 0, bytes.length)
  if (first < 0) return [bytes]
  const units: Uint8Array[] = []
  addUnit(units, bytes, 0, first)
  return [...units, ...listAnnexBNalUnits(bytes)]
}

const startCode = Uint8Array.of(0, 0, 1)

/**
 * Returns the position of the first start code in `bytes[start, end)`, or -1. The search of Node.js is fifteen times as
 * fast as a loop.
 */
export function findStartCode(bytes: Uint8Array, start: number, end: number): number {
  const at = Buffer.prototype.indexOf.call(bytes.subarray(start, end), startCode)
  return at < 0 ? -1 : start + at
}

function addUnit(units: Uint8Array[], bytes: Uint8Array, start: number, end: number): void {
  let last = end
  while (last > start && bytes[last - 1] === 0) last--
  if (last > start) units.push(bytes.subarray(start, last))
}

/**
 * Returns the NAL units of an access unit with 4-byte lengths, as in `Frame.data`, as views. A truncated unit ends the
 * list.
 */
export function listLengthPrefixedNalUnits(data: Uint8Array): Uint8Array[] {
  return listSizedNalUnits(data, 4)
}

/** Does the same with lengths of 1 to 4 bytes, as stated in a configuration record. */
export function listSizedNalUnits(data: Uint8Array, lengthBytes: number): Uint8Array[] {
  const units: Uint8Array[] = []
  for (let at = 0; at + lengthBytes <= data.length; ) {
    let length = 0
    for (let i = 0; i < lengthBytes; i++) length = length * 256 + data[at + i]!
    const start = at + lengthBytes
    if (start + length > data.length) break
    units.push(data.subarray(start, start + length))
    at = start + length
  }
  return units
}

/** The inverse of `listLengthPrefixedNalUnits`. */
export function writeLengthPrefixedNalUnits(units: readonly Uint8Array[]): Uint8Array {
  const data = new Uint8Array(units.reduce((sum, unit) => sum + 4 + unit.length, 0))
  const view = new DataView(data.buffer)
  let at = 0
  for (const unit of units) {
    view.setUint32(at, unit.length)
    data.set(unit, at + 4)
    at += 4 + unit.length
  }
  return data
}
