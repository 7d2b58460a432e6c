// Reads a part of a segment's file as if it had been written on another time axis: decode times are moved on the way out, the
// length stays. Reads in chunks when asked for the next one, so that a slow viewer costs one chunk of memory; of open groups of pictures,
// which few cameras send, a fragment.

import type { FileHandle } from 'node:fs/promises'
import { AppError } from '../base/error.ts'
import type { ByteBudget } from '../hub/byte-budget.ts'
import { hideAudio, shiftDecodeTimes } from '../media/mp4/fragment-head.ts'
import { parseTimescales, scaleTicks } from '../media/mp4/timescale.ts'
import type { Fragment, Segment } from '../model/segment.ts'
import type { ByteSpan } from './byte-range.ts'
import { GroupReader } from './group-reader.ts'
import { openRecording, readExactly } from './recording-file.ts'
import type { TimeShift } from './stream-entries.ts'

const chunkBytes = 256 * 1024

export type ShiftOptions = {
  /** Ticks to add to decode times, for a timescale. */
  readonly shiftOf: (timescale: number) => number
  /** Players see pictures alone. */
  readonly hidesAudio?: boolean
  /** As `GroupReader` says. */
  readonly budget: ByteBudget
}

/**
 * The bytes of `span`, which must lie inside the segment.
 * Throws 'not_found' when the file is gone; it, or the reading, throws 'corrupt' when the file is not what the index says.
 * The file is closed when the reading ends or is returned early.
 */
export async function openShiftedFile(
  path: string,
  segment: Pick<Segment, 'cameraId' | 'fragments' | 'initBytes'>,
  span: ByteSpan,
  { shiftOf, hidesAudio = false, budget }: ShiftOptions,
): Promise<AsyncGenerator<Uint8Array, void, void>> {
  const file = await openRecording(path)
  try {
    const init = await readExactly(file, 0, segment.initBytes)
    const timescales = parseTimescales(init)
    const moveHead = (head: Uint8Array) => {
      shiftDecodeTimes(head, (trackId) => shiftOf(timescales.get(trackId) ?? 90_000))
      if (hidesAudio) hideAudio(head)
    }
    const body = readSpan(file, init, segment, span, { moveHead, budget })
    // Started, so that a reader who gives up before the first chunk closes the file.
    await body.next()
    return body as AsyncGenerator<Uint8Array, void, void>
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Rounded as the recorder rounds, so that audio continues from file to file without a sample too much or too little. */
export function createShift({ runStart90k, runBase90k, shift90k }: TimeShift): (timescale: number) => number {
  return (timescale) =>
    scaleTicks(runStart90k, timescale) - scaleTicks(runBase90k, timescale) + scaleTicks(shift90k, timescale)
}

async function* readSpan(
  file: FileHandle,
  init: Uint8Array,
  { cameraId, fragments }: Pick<Segment, 'cameraId' | 'fragments'>,
  span: ByteSpan,
  { moveHead, budget }: { moveHead(head: Uint8Array): void; readonly budget: ByteBudget },
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
  if (at < endByte) await groups.begin(fragments, first)
  for (let i = first; at < endByte; i++) {
    const fragment = fragments[i]
    if (!fragment) throw new AppError('corrupt', `expected a fragment at byte ${at}, the index has none`)
    const end = Math.min(endByte, fragment.offset + fragment.bytes)
    const { bytes, headBytes } = await groups.read(fragment)
    moveHead(bytes.subarray(0, headBytes))
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
