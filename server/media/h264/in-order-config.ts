// Tells decoders that pictures are shown in decoding order, where a stream does not say so itself.
//
// A decoder that is not told keeps as many pictures back as the level allows before it shows the first one: up to 16, or
// 0.6 s at 25 frames/s. Hardware decoders do that (ITU-T H.264 C.4.5.3, E.2.1 max_dec_frame_buffering).

import { parseAvcConfig, writeAvcConfig } from './avc-config.ts'
import { escapeNal, RbspWriter, unescapeNal } from './rbsp.ts'
import { parseSps } from './sps.ts'

/** Usability information in which nothing is given: the eight flags before the one of the limits of reordering. */
const flagsBefore = 8
/** Longer than everything that is added. */
const addedBytes = 16

/** `config` is an AVCDecoderConfigurationRecord. Returned as it is if pictures are reordered, or it cannot be read. */
export function writeInOrderConfig(config: Uint8Array): Uint8Array {
  try {
    const { sps, pps } = parseAvcConfig(config)
    return writeAvcConfig({ sps: sps.map(limitReordering), pps })
  } catch {
    return config
  }
}

/** Returns the sequence parameter set with `max_num_reorder_frames` 0 if pictures are never reordered. */
function limitReordering(nal: Uint8Array): Uint8Array {
  const { order, unlimited, referenceFrames } = parseSps(nal)
  if (order.maxDepth > 0 || !unlimited) return nal
  const bytes = unescapeNal(nal)
  const writer = new RbspWriter(bytes.length + addedBytes)
  writer.copy(bytes, 0, unlimited.at)
  writer.bits(1, 1)
  if (unlimited.flag === 'usability') writer.bits(1, flagsBefore + 1)
  writer.bits(1, 1) // motion vectors may point outside of the picture
  writer.bits(0b1_1, 2) // no limits of bytes for each picture and bits for each macroblock
  for (const value of [maxVectorLog, maxVectorLog, 0, referenceFrames]) writeUnsigned(writer, value)
  writer.bits(1, 1) // rbsp_stop_one_bit
  return escapeNal(writer.take())
}

/** What holds where the set says nothing (E.2.1). */
const maxVectorLog = 15

/** Writes ue(v). */
function writeUnsigned(writer: RbspWriter, value: number): void {
  const length = Math.floor(Math.log2(value + 1))
  writer.bits(0, length)
  writer.bits(value + 1, length + 1)
}
