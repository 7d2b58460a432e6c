// Parses the recovery point SEI message, which marks a picture where a decoder can start although it is not an IDR or
// IRAP picture. ISO/IEC 14496-10 7.3.2.3, D.1.8 and D.2.8 (H.264); ITU-T H.265 7.3.5, D.2.8 and D.3.8. The messages of
// a NAL unit are SEI payloads that are each preceded by type and size.

import { BitReader } from './bit-reader.ts'

export type RecoveryPoint = {
  /**
   * The number of pictures after which the decoder output is correct: reference pictures in H.264
   * (`recovery_frame_cnt`), pictures in presentation order in H.265 (`recovery_poc_cnt`). 0 means correct from this
   * picture on.
   */
  readonly count: number
  /** Pictures that are shown before this one refer to pictures that this stream does not contain. */
  readonly isBroken: boolean
  /** Position of the message in the given bytes. */
  readonly start: number
  readonly end: number
}

const recoveryPointType = 6
/** Only this many bytes of a NAL unit are read, because encoders write their own messages first. */
const maxReadBytes = 2048
/** H.264 limits the count to less than MaxFrameNum; encoders use far smaller values. */
const maxCount = 65_535

/**
 * Searches the SEI unit `bytes[start, end)`. Returns undefined when it has no recovery point or cannot be parsed.
 * `headerBytes` distinguishes the codecs.
 */
export function findRecoveryPoint(
  bytes: Uint8Array,
  start: number,
  end: number,
  headerBytes: 1 | 2,
): RecoveryPoint | undefined {
  const last = Math.min(end, start + maxReadBytes)
  let zeros = 0
  let type = 0
  let size = 0
  let state: 'type' | 'size' = 'type'
  /** Payload bytes still to be skipped. */
  let skipped = 0
  for (let at = start + headerBytes; at < last; at++) {
    const byte = bytes[at]!
    if (zeros >= 2 && byte === 3) {
      zeros = 0
      continue
    }
    zeros = byte === 0 ? zeros + 1 : 0
    if (skipped > 0) skipped--
    else if (state === 'type') {
      type += byte
      if (byte < 255) state = 'size'
    } else {
      size += byte
      if (byte === 255) continue
      if (type === recoveryPointType && size > 0)
        return readPayload(bytes, at + 1, Math.min(end, at + 1 + size), headerBytes)
      skipped = size
      type = 0
      size = 0
      state = 'type'
    }
  }
  return undefined
}

function readPayload(bytes: Uint8Array, start: number, end: number, headerBytes: 1 | 2): RecoveryPoint | undefined {
  try {
    const reader = new BitReader(bytes.subarray(start, end))
    // In H.265 the count may be negative: then the output is correct from this picture on.
    const count = headerBytes === 1 ? reader.unsigned() : Math.max(0, reader.signed())
    reader.bit() // exact_match_flag
    const isBroken = reader.bit() === 1
    return count <= maxCount ? { count, isBroken, start, end } : undefined
  } catch {
    return undefined
  }
}

/**
 * H.264: sets the recovery count of the message to 0 in place, without changing its length, for players that do not
 * start at gradual recovery points.
 */
export function clearRecoveryCount(bytes: Uint8Array, { isBroken, start, end }: RecoveryPoint): void {
  // ue(0), not exact, broken or not, changing_slice_group_idc 0 (2 bits), then padding.
  bytes[start] = isBroken ? 0b1_0_1_00_100 : 0b1_0_0_00_100
  bytes.fill(0xff, start + 1, end)
}
