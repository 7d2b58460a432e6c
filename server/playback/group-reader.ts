// Reads the fragments of one file in order, rewritten for players that start in the middle (see `FragmentCloser`):
// complete fragments for open groups of pictures, and otherwise only the first chunk of each.

import { checkCameraId, findMoof, findWholeMoof, maxHeadBytes, readExactly } from '../archive/recording-file.ts'
import type { ByteBudget } from '../base/byte-budget.ts'
import { AppError } from '../base/error.ts'
import type { Fragment } from '../model/segment.ts'
import type { FootageFile } from '../places/place-files.ts'
import { clearRefreshCount, FragmentCloser, findGroupStart, type GroupStart } from './fragment-closer.ts'

const chunkBytes = 256 * 1024
/**
 * Limit for the bytes that are read from the start of a group to close it when reading starts in its middle. Longer
 * groups stay open.
 */
const maxGroupBytes = 64 * 1024 * 1024
/** Larger fragments are not closed, because a closed fragment is completely in memory until it is sent. */
const maxClosedBytes = 8 * 1024 * 1024

export type FragmentStart = {
  /** The bytes of the fragment from its start, with at least the whole head. */
  readonly bytes: Uint8Array
  readonly headBytes: number
}

/** The refresh count of a key frame is at its beginning. */
const frameStartBytes = 4096

export class GroupReader implements Disposable {
  readonly #file: FootageFile
  readonly #cameraId: number
  readonly #closer: FragmentCloser | undefined
  readonly #budget: ByteBudget
  /** Bytes taken from the budget for the last fragment. */
  #heldBytes = 0
  /** How the current group starts. */
  #start: GroupStart = 'sync'

  /**
   * `init` is the initialization section of the file. `budget` limits the fragments that are completely in memory, for
   * all readers together.
   */
  constructor(file: FootageFile, init: Uint8Array, { cameraId, budget }: { cameraId: number; budget: ByteBudget }) {
    this.#file = file
    this.#budget = budget
    this.#cameraId = cameraId
    this.#closer = FragmentCloser.of(init)
  }

  [Symbol.dispose](): void {
    this.#budget.give(this.#heldBytes)
    this.#heldBytes = 0
  }

  /**
   * Prepares reading from the fragment at `index`. Earlier fragments of its group are read if they are needed to close
   * it.
   */
  async startAt(fragments: readonly Fragment[], index: number): Promise<void> {
    const fragment = fragments[index]
    if (!this.#closer || !fragment || fragment.isKey) return
    const key = fragments.slice(0, index).findLastIndex(({ isKey }) => isKey)
    if (key < 0 || fragment.offset - fragments[key]!.offset > maxGroupBytes) return
    for (let i = key; i < index && (i === key || this.#start === 'open'); i++) await this.read(fragments[i]!)
  }

  /**
   * Reads the next fragment and releases the previous one. Throws 'corrupt', and 'unavailable' when other readers have used
   * up the budget.
   */
  async read(fragment: Fragment): Promise<FragmentStart> {
    const { bytes, moof } = await this.#readHead(fragment)
    return this.#close(fragment, bytes, moof)
  }

  /**
   * The same for a fragment whose beginning has been read already; it may be changed in place. `isCopy`: the result is in
   * memory of its own. Returns undefined if `bytes` are too few.
   */
  async take(
    fragment: Fragment,
    bytes: Uint8Array,
  ): Promise<(FragmentStart & { readonly isCopy: boolean }) | undefined> {
    const moof = findWholeMoof(bytes)
    const needed = this.#closer ? Math.min(fragment.bytes, (moof?.end ?? 0) + frameStartBytes) : 0
    if (!moof || bytes.length < needed) return undefined
    checkCameraId(bytes, this.#cameraId)
    const closed = await this.#close(fragment, bytes, moof)
    return { ...closed, isCopy: closed.bytes !== bytes }
  }

  async #close(
    fragment: Fragment,
    bytes: Uint8Array,
    moof: { readonly start: number; readonly end: number },
  ): Promise<FragmentStart> {
    this[Symbol.dispose]()
    const headBytes = moof.end
    if (!this.#closer) return { bytes, headBytes }
    if (fragment.isKey) this.#start = findGroupStart(bytes.subarray(moof.start, moof.end))
    if (this.#start === 'gradual' && fragment.isKey) clearRefreshCount(bytes, moof)
    if (this.#start !== 'open') return { bytes, headBytes }
    if (!this.#reserveBytes(fragment)) {
      if (!fragment.isKey && fragment.bytes <= maxClosedBytes)
        throw new AppError('unavailable', 'too many recordings of this kind are being sent')
      this.#start = 'sync'
      return { bytes, headBytes }
    }
    const { offset } = fragment
    const whole = bytes.length < fragment.bytes ? await readExactly(this.#file, offset, fragment.bytes) : bytes
    const closed = this.#closer.close(whole, moof, fragment.isKey)
    if (closed) return { bytes: closed, headBytes: findMoof(closed).end }
    if (fragment.isKey) this.#start = 'sync'
    return { bytes: whole, headBytes }
  }

  #reserveBytes({ bytes }: Fragment): boolean {
    if (bytes > maxClosedBytes || !this.#budget.take(bytes)) return false
    this.#heldBytes = bytes
    return true
  }

  /** The head must be complete to be rewritten, even if only a part of it was requested. */
  async #readHead(fragment: Fragment) {
    let bytes = await readExactly(this.#file, fragment.offset, Math.min(chunkBytes, fragment.bytes))
    const moof = findMoof(bytes)
    if (moof.end > bytes.length) {
      if (moof.end > Math.min(maxHeadBytes, fragment.bytes)) {
        throw new AppError('corrupt', `expected a fragment head of at most ${maxHeadBytes} bytes, got ${moof.end}`)
      }
      bytes = await readExactly(this.#file, fragment.offset, moof.end)
    }
    checkCameraId(bytes, this.#cameraId)
    return { bytes, moof }
  }
}
