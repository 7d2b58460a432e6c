// Reads part of a segment's file with its decode times shifted to another time axis; the length does not change.

import { type OpenRecording, readExactly, readInto } from '../archive/recording-file.ts'
import { hashInit } from '../archive/segment-checksum.ts'
import type { ByteBudget } from '../base/byte-budget.ts'
import { AppError } from '../base/error.ts'
import { hideAudio, shiftDecodeTimes } from '../media/mp4/fragment-head.ts'
import { parseTimescales } from '../media/mp4/timescale.ts'
import type { Fragment, Segment } from '../model/segment.ts'
import type { FootageFile } from '../places/place-files.ts'
import type { ByteSpan } from './byte-range.ts'
import { type FragmentStart, GroupReader } from './group-reader.ts'
import type { MediaBody } from './media-bytes.ts'
import { shiftTicks, type TimeShift } from './time-shift.ts'

export type ShiftOptions = {
  readonly shift: TimeShift
  /** Removes the audio track from the output. */
  readonly hidesAudio?: boolean
  /** See `GroupReader`. */
  readonly budget: ByteBudget
  readonly inits: InitSections
}

type ShiftedSegment = Pick<Segment, 'id' | 'placeId' | 'path' | 'cameraId' | 'fragments' | 'initBytes' | 'initHash'>

const maxInits = 200

/**
 * Initialization sections by their hash, because all files of a camera have the same: a request for an entry reads its file
 * once. A section that does not match its hash is not kept.
 */
export class InitSections {
  /** Least recently used first. */
  readonly #known = new Map<string, Uint8Array>()

  async read(file: FootageFile, { initBytes, initHash }: Pick<Segment, 'initBytes' | 'initHash'>): Promise<Uint8Array> {
    const init = this.#known.get(initHash) ?? (await readExactly(file, 0, initBytes))
    if (!this.#known.delete(initHash) && hashInit(init) !== initHash) return init
    this.#known.set(initHash, init)
    if (this.#known.size > maxInits) this.#known.delete(this.#known.keys().next().value!)
    return init
  }
}

/**
 * Returns the bytes of `span`, which must lie within the segment. Throws 'not_found' when the file is gone. Opening and
 * reading throw 'corrupt' when the file does not match the index.
 */
export async function openShiftedFile(
  open: OpenRecording,
  segment: ShiftedSegment,
  span: ByteSpan,
  options: ShiftOptions,
): Promise<MediaBody> {
  const file = await open(segment)
  try {
    const init = await options.inits.read(file, segment)
    const body = new ShiftedFile(file, init, segment, span, options)
    await body.begin()
    return body
  } catch (error) {
    await file.close()
    throw error
  }
}

class ShiftedFile implements MediaBody {
  readonly #file: FootageFile
  readonly #init: Uint8Array
  readonly #fragments: readonly Fragment[]
  readonly #groups: GroupReader
  readonly #rewriteHead: (head: Uint8Array) => void
  readonly #end: number
  /** Offset of the next byte. */
  #at: number
  /** The first fragment whose head was not rewritten yet. It begins at the next byte or behind it. */
  #next: number
  /** What is sent from the next byte on, instead of the bytes of the file. */
  #rewritten: Uint8Array

  constructor(
    file: FootageFile,
    init: Uint8Array,
    { cameraId, fragments }: ShiftedSegment,
    span: ByteSpan,
    { shift, hidesAudio = false, budget }: ShiftOptions,
  ) {
    this.#file = file
    this.#init = init
    this.#fragments = fragments
    this.#groups = new GroupReader(file, init, { cameraId, budget })
    const timescales = parseTimescales(init)
    this.#rewriteHead = (head) => {
      shiftDecodeTimes(head, (trackId) => shiftTicks(shift, timescales.get(trackId) ?? 90_000))
      if (hidesAudio) hideAudio(head)
    }
    this.#at = span.first
    this.#end = span.last + 1
    this.#next = findFragment(fragments, Math.max(span.first, init.length))
    this.#rewritten = init.subarray(this.#at, this.#end)
  }

  /** Reads what is needed to begin within a fragment, or within a group of pictures. */
  async begin(): Promise<void> {
    if (this.#at < this.#init.length) return
    await this.#groups.startAt(this.#fragments, this.#next)
    if (this.#at > this.#fragmentAt(this.#next).offset) await this.#readFragment()
  }

  async read(target: Uint8Array): Promise<number> {
    if (this.#rewritten.length === 0 && this.#at < this.#end) {
      const bytes = target.subarray(0, this.#end - this.#at)
      await readInto(this.#file, this.#at, bytes)
      const taken = await this.#rewriteHeads(bytes)
      this.#at += taken
      if (taken > 0) return taken
    }
    const bytes = this.#rewritten.subarray(0, target.length)
    target.set(bytes)
    this.#rewritten = this.#rewritten.subarray(bytes.length)
    this.#at += bytes.length
    return bytes.length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#groups[Symbol.dispose]()
    await this.#file.close()
  }

  /**
   * Rewrites the heads of the fragments that begin in `bytes`, the next ones of the file. Returns how many of them can be
   * sent: all, or those before a fragment of which more than that is needed. 0: that fragment is in memory.
   */
  async #rewriteHeads(bytes: Uint8Array): Promise<number> {
    for (; this.#next < this.#fragments.length; this.#next++) {
      const fragment = this.#fragments[this.#next]!
      const start = fragment.offset - this.#at
      if (start >= bytes.length) break
      const found = await this.#groups.take(fragment, bytes.subarray(start, start + fragment.bytes))
      if (!found && start > 0) return start
      if (!found || found.isCopy) {
        if (found) this.#hold(found, fragment)
        else await this.#readFragment()
        return start
      }
      this.#rewriteHead(found.bytes.subarray(0, found.headBytes))
    }
    return bytes.length
  }

  async #readFragment(): Promise<void> {
    const fragment = this.#fragmentAt(this.#next)
    this.#hold(await this.#groups.read(fragment), fragment)
  }

  #hold({ bytes, headBytes }: FragmentStart, { offset }: Fragment): void {
    this.#rewriteHead(bytes.subarray(0, headBytes))
    this.#rewritten = bytes.subarray(Math.max(0, this.#at - offset), this.#end - offset)
    this.#next++
  }

  #fragmentAt(index: number): Fragment {
    const fragment = this.#fragments[index]
    if (!fragment) throw new AppError('corrupt', `expected a fragment at byte ${this.#at}, but the index has none`)
    return fragment
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
