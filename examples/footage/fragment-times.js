// Moves the times of fragmented MP4, so that a file that holds a piece of a longer recording begins at 0 (ISO/IEC 14496-12).

const containers = new Set(['moov', 'trak', 'mdia', 'moof', 'traf'])

/** Ticks a second of each track, by its id, from an initialization section. */
export function readTimescales(init) {
  const timescales = new Map()
  let track = 0
  for (const { type, body } of walk(init)) {
    const isLong = body[0] === 1 // version 1 has times of 8 bytes
    if (type === 'tkhd') track = body.readUInt32BE(isLong ? 20 : 12)
    if (type === 'mdhd') timescales.set(track, body.readUInt32BE(isLong ? 20 : 12))
  }
  return timescales
}

/** Where the earliest track begins, in seconds; of the fragments that come first. */
export function readStartSeconds(bytes, timescales) {
  const starts = new Map()
  for (const { type, track, read } of times(bytes)) {
    if (type === 'tfdt' && !starts.has(track)) starts.set(track, read())
  }
  return Math.min(...[...starts].map(([track, time]) => Number(time) / timescales.get(track)))
}

/** In place, so much earlier. Lengths stay as they are. */
export function shiftTimes(bytes, timescales, seconds) {
  for (const { track, read, write } of times(bytes)) {
    const earlier = read() - BigInt(Math.round(seconds * timescales.get(track)))
    write(earlier > 0n ? earlier : 0n)
  }
}

/** The time at which the samples of each track go on (`tfdt`), and what it is by the wall clock (`prft`). */
function* times(bytes) {
  let track = 0
  for (const { type, body } of walk(bytes)) {
    const isLong = body[0] === 1
    if (type === 'tfhd') track = body.readUInt32BE(4)
    if (type === 'tfdt') yield { type, track, ...timeAt(body, 4, isLong) }
    if (type === 'prft') yield { type, track: body.readUInt32BE(4), ...timeAt(body, 16, isLong) }
  }
}

function timeAt(body, offset, isLong) {
  if (isLong) return { read: () => body.readBigUInt64BE(offset), write: (time) => body.writeBigUInt64BE(time, offset) }
  const write = (time) => body.writeUInt32BE(Number(time), offset)
  return { read: () => BigInt(body.readUInt32BE(offset)), write }
}

/** Every box, those inside others too. */
function* walk(bytes) {
  let at = 0
  while (at < bytes.length) {
    const isLarge = bytes.readUInt32BE(at) === 1 // the size follows in 8 bytes
    const head = isLarge ? 16 : 8
    const size = isLarge ? Number(bytes.readBigUInt64BE(at + 8)) : bytes.readUInt32BE(at)
    if (size < head || at + size > bytes.length) throw new Error(`not an MP4 fragment: a box of ${size} bytes at ${at}`)
    const type = bytes.toString('latin1', at + 4, at + 8)
    const body = bytes.subarray(at + head, at + size)
    if (containers.has(type)) yield* walk(body)
    else yield { type, body }
    at += size
  }
}
