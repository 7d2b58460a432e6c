// The recovery point message: a picture where a decoder can start although it is no IDR or IRAP picture. ISO/IEC 14496-10 7.3.2.3, D.1.8
// and D.2.8 (H.264); ITU-T H.265 7.3.5, D.2.8 and D.3.8. Messages of a NAL unit are SEI payloads, each behind its type and size.

import { BitReader } from './bit-reader.ts'

export type RecoveryPoint = {
  /**
   * What is shown is right from so many pictures on: reference pictures in H.264 (`recovery_frame_cnt`), pictures in the order of showing
   * in H.265 (`recovery_poc_cnt`). 0: from this picture on.
   */
  readonly count: number
  /** Pictures shown before it refer to pictures that this stream does not have. */
  readonly isBroken: boolean
  /** Where the message lies in the bytes that were looked through. */
  readonly start: number
  readonly end: number
}

const recoveryPointType = 6
/** Of one NAL unit; what encoders say about a picture themselves comes first. */
const maxReadBytes = 2048
/** H.264: less than MaxFrameNum; far more than any encoder uses. */
const maxCount = 65_535

/** In the SEI unit `bytes[start, end)`, or undefined where it holds none or can't be read. `headerBytes` tells the codecs apart. */
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
  /** Payload bytes still to be passed over. */
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
    // In H.265 it may lie before the picture: then everything is right from this picture on.
    const count = headerBytes === 1 ? reader.unsigned() : Math.max(0, reader.signed())
    reader.bit() // exact_match_flag
    const isBroken = reader.bit() === 1
    return count <= maxCount ? { count, isBroken, start, end } : undefined
  } catch {
    return undefined
  }
}

/**
 * H.264: makes the message say that what is shown is right from this picture on, in place, its length as it was. For players that
 * do not start at a picture that is whole only later.
 */
export function clearRecoveryCount(bytes: Uint8Array, { isBroken, start, end }: RecoveryPoint): void {
  // ue(0), not exact, broken or not, no slice groups that change (2 bits), then what ends a message.
  bytes[start] = isBroken ? 0b1_0_1_00_100 : 0b1_0_0_00_100
  bytes.fill(0xff, start + 1, end)
}
