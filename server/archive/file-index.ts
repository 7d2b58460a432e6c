// The index at the end of a recorded file: a `uuid` box (ISO/IEC 14496-12 11.1) with the samples of all fragments
// (sample-records.ts), so that a download reads one place of a file and not one of each fragment, and an `mfra` (8.8.9 to
// 8.8.11) with the key frames, which tells other players how long the file is and where they can begin.
//
// The `uuid` box: a CRC-32 of what follows it, the camera's id, the checksum of the file's fragments, which binds the index
// to them, the number of fragments, and their records.

import { crc32 } from 'node:zlib'
import { box, fullBox, u32, writeBoxes } from '../media/mp4/box.ts'
import { parseBoxHeader } from '../media/mp4/box-scanner.ts'
import { videoTrackId } from '../media/mp4/init-segment.ts'

export type FileIndex = {
  readonly cameraId: number
  /** Of all fragments, as in the row of the segment. */
  readonly checksum: number
  /** The number of fragments. */
  readonly count: number
  /** See `SampleRecordWriter`. */
  readonly records: Uint8Array
}

/** A key frame at the beginning of a fragment. */
export type KeyPlace = {
  /** When it is shown, in ticks of the video track. */
  readonly time: number
  /** Offset of the `moof` in the file. */
  readonly moofOffset: number
}

/** The type of this extension. No other program writes boxes of this type. */
const type = Uint8Array.of(
  ...[0x94, 0x5b, 0xd1, 0x3e, 0x60, 0x0f, 0x4c, 0xa7],
  ...[0x8d, 0x22, 0xe4, 0x71, 0xb9, 0x36, 0x05, 0xcc],
)

const version = 1
/** A minute has some kB; larger ones are not read. */
export const maxIndexBytes = 4 * 1024 * 1024
/** Of the box, before the records. */
const headBytes = 8 + 16 + 4 + 1 + 8 + 4 + 4

export function writeFileIndex(
  { cameraId, checksum, count, records }: FileIndex,
  keys: readonly KeyPlace[],
): Uint8Array {
  const out = new Uint8Array(headBytes + records.length)
  const view = new DataView(out.buffer)
  view.setUint32(0, out.length)
  view.setUint32(4, 0x75756964 /* uuid */)
  out.set(type, 8)
  view.setUint8(28, version)
  view.setBigUint64(29, BigInt(cameraId))
  view.setUint32(37, checksum)
  view.setUint32(41, count)
  out.set(records, headBytes)
  view.setUint32(24, crc32(out.subarray(28)))
  return Buffer.concat([out, writeRandomAccess(keys)])
}

/** The length of `mfro`, which is the last box of a file and says how long the `mfra` is. */
const mfroBytes = 16

function writeRandomAccess(keys: readonly KeyPlace[]): Uint8Array {
  const entryBytes = 19
  const entries = new Uint8Array(keys.length * entryBytes)
  const view = new DataView(entries.buffer)
  for (const [i, { time, moofOffset }] of keys.entries()) {
    view.setBigUint64(i * entryBytes, BigInt(time))
    view.setBigUint64(i * entryBytes + 8, BigInt(moofOffset))
    // The first `traf`, the first `trun`, the first sample.
    entries.fill(1, i * entryBytes + 16, (i + 1) * entryBytes)
  }
  const tfra = fullBox('tfra', 1, 0, u32(videoTrackId, 0, keys.length), entries)
  const bytes = 8 + 24 + entries.length + mfroBytes
  return writeBoxes([box('mfra', tfra, fullBox('mfro', 0, 0, u32(bytes)))])
}

/**
 * Parses the bytes from the end of the last fragment to the end of the file. Undefined if they are not a whole index, and
 * nothing else.
 */
export function parseFileIndex(bytes: Uint8Array): FileIndex | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < headBytes || !type.every((byte, i) => bytes[8 + i] === byte)) return undefined
  const length = view.getUint32(0)
  if (view.getUint32(4) !== 0x75756964 || length < headBytes || length > bytes.length) return undefined
  if (view.getUint8(28) !== version || view.getUint32(24) !== crc32(bytes.subarray(28, length))) return undefined
  const last = readHeader(bytes, length)
  if (last?.type !== 'mfra' || length + last.bytes !== bytes.length) return undefined
  return {
    cameraId: Number(view.getBigUint64(29)),
    checksum: view.getUint32(37),
    count: view.getUint32(41),
    records: bytes.subarray(headBytes, length),
  }
}

function readHeader(bytes: Uint8Array, at: number) {
  try {
    return parseBoxHeader(bytes, at)
  } catch {
    return undefined
  }
}
