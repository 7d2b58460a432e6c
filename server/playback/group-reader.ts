// The beginnings of the fragments of one file, one after the other, each as players are given it who may begin there: of an open group of
// pictures whole and closed, of others as much as one read gives.

import type { FileHandle } from 'node:fs/promises'
import { AppError } from '../base/error.ts'
import type { ByteBudget } from '../hub/byte-budget.ts'
import type { Fragment } from '../model/segment.ts'
import { claimWhole, FragmentCloser, findGroupStart, type GroupStart } from './closed-fragment.ts'
import { checkChecksumBox, findMoof, maxHeadBytes, readExactly } from './recording-file.ts'

const chunkBytes = 256 * 1024
/** What is read at most to close a group of pictures, from its beginning on, when somebody begins in its middle: a longer one stays open. */
const maxGroupBytes = 64 * 1024 * 1024
/** A fragment is in memory whole until it is sent. */
const maxClosedBytes = 8 * 1024 * 1024

type Beginning = {
  /** From the beginning of the fragment on, its head at least. */
  readonly bytes: Uint8Array
  readonly headBytes: number
}

export class GroupReader implements Disposable {
  readonly #file: FileHandle
  readonly #cameraId: number
  readonly #closer: FragmentCloser | undefined
  readonly #budget: ByteBudget
  /** Of the budget, for the fragment that was read last. */
  #heldBytes = 0
  /** Of the group that is being read. */
  #start: GroupStart = 'sync'

  /** `init`: initialization section of the file. `budget`: what fragments may take that are in memory whole, of all readers together. */
  constructor(file: FileHandle, init: Uint8Array, { cameraId, budget }: { cameraId: number; budget: ByteBudget }) {
    this.#file = file
    this.#budget = budget
    this.#cameraId = cameraId
    this.#closer = FragmentCloser.of(init)
  }

  [Symbol.dispose](): void {
    this.#budget.give(this.#heldBytes)
    this.#heldBytes = 0
  }

  /** The fragment at `index` will be read first: those of its group before it are looked through where that is needed. */
  async begin(fragments: readonly Fragment[], index: number): Promise<void> {
    const fragment = fragments[index]
    if (!this.#closer || !fragment || fragment.isKey) return
    const key = fragments.slice(0, index).findLastIndex(({ isKey }) => isKey)
    if (key < 0 || fragment.offset - fragments[key]!.offset > maxGroupBytes) return
    for (let i = key; i < index && (i === key || this.#start === 'open'); i++) await this.read(fragments[i]!)
  }

  /** The next fragment; the one before is no longer needed. Throws 'corrupt', and 'unavailable' when others have used the budget up. */
  async read(fragment: Fragment): Promise<Beginning> {
    this[Symbol.dispose]()
    const { bytes, moof } = await this.#readHead(fragment)
    const headBytes = moof.end
    if (!this.#closer) return { bytes, headBytes }
    if (fragment.isKey) this.#start = findGroupStart(bytes.subarray(moof.start, moof.end))
    if (this.#start === 'gradual' && fragment.isKey) claimWhole(bytes, moof)
    if (this.#start !== 'open') return { bytes, headBytes }
    if (!this.#takeBytes(fragment)) {
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

  #takeBytes({ bytes }: Fragment): boolean {
    if (bytes > maxClosedBytes || !this.#budget.take(bytes)) return false
    this.#heldBytes = bytes
    return true
  }

  /** The head must be whole to be changed, even when only a part of it is wanted. */
  async #readHead(fragment: Fragment) {
    let bytes = await readExactly(this.#file, fragment.offset, Math.min(chunkBytes, fragment.bytes))
    const moof = findMoof(bytes)
    if (moof.end > bytes.length) {
      if (moof.end > Math.min(maxHeadBytes, fragment.bytes)) {
        throw new AppError('corrupt', `expected a fragment head below ${maxHeadBytes} bytes, got ${moof.end}`)
      }
      bytes = await readExactly(this.#file, fragment.offset, moof.end)
    }
    checkChecksumBox(bytes, this.#cameraId)
    return { bytes, moof }
  }
}
