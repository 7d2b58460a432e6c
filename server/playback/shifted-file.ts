// Reads part of a segment's file with its decode times shifted to another time axis; the length does not change. It
// reads the next chunk on request, so that a slow viewer takes one chunk of memory, or one fragment for the few cameras
// with open groups of pictures.

import type { FileHandle } from 'node:fs/promises'
import type { ByteBudget } from '../base/byte-budget.ts'
import { AppError } from '../base/error.ts'
import { hideAudio, shiftDecodeTimes } from '../media/mp4/fragment-head.ts'
import { parseTimescales } from '../media/mp4/timescale.ts'
import type { Fragment, Segment } from '../model/segment.ts'
import type { ByteSpan } from './byte-range.ts'
import { GroupReader } from './group-reader.ts'
import { openRecording, readExactly } from './recording-file.ts'
import { shiftTicks, type TimeShift } from './time-shift.ts'

const chunkBytes = 256 * 1024

export type ShiftOptions = {
  readonly shift: TimeShift
  /** Removes the audio track from the output. */
  readonly hidesAudio?: boolean
  /** See `GroupReader`. */
  readonly budget: ByteBudget
}

/**
 * Returns the bytes of `span`, which must lie within the segment. Throws 'not_found' when the file is gone. Opening and
 * reading throw 'corrupt' when the file does not match the index. The file is closed when reading ends or `return()` is
 * called.
 */
export async function openShiftedFile(
  path: string,
  segment: Pick<Segment, 'cameraId' | 'fragments' | 'initBytes'>,
  span: ByteSpan,
  { shift, hidesAudio = false, budget }: ShiftOptions,
): Promise<AsyncGenerator<Uint8Array, void, void>> {
  const file = await openRecording(path)
  try {
    const init = await readExactly(file, 0, segment.initBytes)
    const timescales = parseTimescales(init)
    const rewriteHead = (head: Uint8Array) => {
      shiftDecodeTimes(head, (trackId) => shiftTicks(shift, timescales.get(trackId) ?? 90_000))
      if (hidesAudio) hideAudio(head)
    }
    const body = readSpan(file, init, segment, span, { rewriteHead, budget })
    // The generator is started, so that `return()` closes the file even before the first chunk.
    await body.next()
    return body as AsyncGenerator<Uint8Array, void, void>
  } catch (error) {
    await file.close()
    throw error
  }
}

async function* readSpan(
  file: FileHandle,
  init: Uint8Array,
  { cameraId, fragments }: Pick<Segment, 'cameraId' | 'fragments'>,
  span: ByteSpan,
  { rewriteHead, budget }: { rewriteHead(head: Uint8Array): void; readonly budget: ByteBudget },
): AsyncGenerator<Uint8Array | undefined, void, void> {
  await using _ = file
  yield undefined
  const endByte = span.last + 1
  let at = span.first
  if (at < init.length) {
    const bytes = init.subarray(at, endByte)
    yield bytes
    at += bytes.length
  }
  const first = findFragment(fragments, at)
  using groups = new GroupReader(file, init, { cameraId, budget })
  if (at < endByte) await groups.startAt(fragments, first)
  for (let i = first; at < endByte; i++) {
    const fragment = fragments[i]
    if (!fragment) throw new AppError('corrupt', `expected a fragment at byte ${at}, but the index has none`)
    const end = Math.min(endByte, fragment.offset + fragment.bytes)
    const { bytes, headBytes } = await groups.read(fragment)
    rewriteHead(bytes.subarray(0, headBytes))
    const first = bytes.subarray(at - fragment.offset, end - fragment.offset)
    if (first.length > 0) yield first
    at += first.length
    while (at < end) {
      const bytes = await readExactly(file, at, Math.min(chunkBytes, end - at))
      yield bytes
      at += bytes.length
    }
  }
}

function findFragment(fragments: readonly Fragment[], at: number): number {
  let low = 0
  let high = fragments.length
  while (low < high) {
    const middle = (low + high) >> 1
    const { offset, bytes } = fragments[middle]!
    if (offset + bytes <= at) low = middle + 1
    else high = middle
  }
  return low
}
