// Adds silence to an entry of a recorded stream whose footage has no audio: the shifted bytes of the file, followed by
// one audio fragment.

import type { OpenRecording } from '../archive/recording-file.ts'
import type { ByteBudget } from '../base/byte-budget.ts'
import { writeSilentFragment } from '../media/mp4/silent-track.ts'
import type { Segment } from '../model/segment.ts'
import type { ByteSpan } from './byte-range.ts'
import { BytesBody, JoinedBody, type MediaBody } from './media-bytes.ts'
import { type InitSections, openShiftedFile } from './shifted-file.ts'
import type { StreamEntry } from './stream-entries.ts'
import type { TimeShift } from './time-shift.ts'

export type SilentEntry = {
  readonly totalBytes: number
  /** Throws like `openShiftedFile`. */
  open(span: ByteSpan): Promise<MediaBody>
}

export type SilentEntryOptions = {
  readonly entry: StreamEntry
  readonly shift: TimeShift
  readonly sequence: number
  /** See `GroupReader`. */
  readonly budget: ByteBudget
  readonly inits: InitSections
}

/** `entry` is an entry of this segment and `sequence` its number. */
export function layoutSilentEntry(
  openRecording: OpenRecording,
  segment: Pick<Segment, 'id' | 'placeId' | 'path' | 'cameraId' | 'fragments' | 'initBytes' | 'initHash'>,
  { entry, shift, sequence, budget, inits }: SilentEntryOptions,
): SilentEntry {
  const { offset, bytes, axis90k: start90k, duration90k } = entry
  const times = { origin90k: shift.shift90k, start90k, end90k: start90k + duration90k }
  const silence = writeSilentFragment(sequence + 1, times)
  return {
    totalBytes: bytes + silence.length,
    async open({ first, last }) {
      const behind = silence.subarray(Math.max(0, first - bytes), Math.max(0, last + 1 - bytes))
      if (first >= bytes) return new BytesBody(behind)
      const span = { first: offset + first, last: offset + Math.min(last, bytes - 1) }
      return new JoinedBody([
        await openShiftedFile(openRecording, segment, span, { shift, budget, inits }),
        new BytesBody(behind),
      ])
    },
  }
}
