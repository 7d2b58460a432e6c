// An entry of a recorded stream whose footage has no audio, with silence: the bytes of the archive's file, moved in time, then one fragment of
// audio.

import type { ByteBudget } from '../hub/byte-budget.ts'
import { writeSilentFragment } from '../media/mp4/silent-track.ts'
import type { Segment } from '../model/segment.ts'
import type { ByteSpan } from './byte-range.ts'
import { createShift, openShiftedFile } from './shifted-file.ts'
import type { StreamEntry, TimeShift } from './stream-entries.ts'

export type SilentEntry = {
  readonly totalBytes: number
  /** Throws as `openShiftedFile`. */
  open(span: ByteSpan): Promise<AsyncGenerator<Uint8Array, void, void>>
}

export type SilentEntryOptions = {
  readonly entry: StreamEntry
  readonly shift: TimeShift
  readonly sequence: number
  /** As `GroupReader` says. */
  readonly budget: ByteBudget
}

/** `entry` of this segment; `sequence`: its number. */
export function layoutSilentEntry(
  path: string,
  segment: Pick<Segment, 'cameraId' | 'fragments' | 'initBytes'>,
  { entry, shift, sequence, budget }: SilentEntryOptions,
): SilentEntry {
  const { offset, bytes, axis90k: start90k, duration90k } = entry
  const times = { origin90k: shift.shift90k, start90k, end90k: start90k + duration90k }
  const silence = writeSilentFragment(sequence + 1, times)
  return {
    totalBytes: bytes + silence.length,
    async open({ first, last }) {
      const behind = silence.subarray(Math.max(0, first - bytes), Math.max(0, last + 1 - bytes))
      if (first >= bytes) return once(behind)
      const span = { first: offset + first, last: offset + Math.min(last, bytes - 1) }
      const both = followedBy(
        await openShiftedFile(path, segment, span, { shiftOf: createShift(shift), budget }),
        behind,
      )
      // Started, so that a reader who gives up before the first chunk closes the file.
      await both.next()
      return both as AsyncGenerator<Uint8Array, void, void>
    },
  }
}

async function* followedBy(
  body: AsyncGenerator<Uint8Array, void, void>,
  bytes: Uint8Array,
): AsyncGenerator<Uint8Array | undefined, void, void> {
  try {
    yield undefined
    yield* body
  } finally {
    await body.return()
  }
  if (bytes.length > 0) yield bytes
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield bytes
}
