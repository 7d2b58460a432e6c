// Parameter sets by kind and id. As in a decoder, a new set replaces the one with the same id and invalidates sets that
// refer to it.

import { AppError } from '../../base/error.ts'

/** More than any encoder uses. A stream that sends more is broken and must not fill the memory. */
const maxSets = 96

/** The size limit of a set in a decoder configuration record. Real sets have some hundred bytes. */
const maxSetBytes = 0xffff

/** `parentId` is the id of the set that this set refers to. */
type StoredSet = { readonly kind: number; readonly id: number; readonly parentId: number; readonly bytes: Uint8Array }

export class ParameterSetStore {
  readonly #sets = new Map<number, StoredSet>()
  /** Whether any set changed. The reader resets it. */
  hasChanged = false

  /** Returns true when `bytes[start, end)` equals the stored set with this id. */
  has(kind: number, id: number, bytes: Uint8Array, start: number, end: number): boolean {
    const known = this.#sets.get(keyOf(kind, id))?.bytes
    if (!known || known.length !== end - start) return false
    for (let i = 0; i < known.length; i++) if (known[i] !== bytes[start + i]) return false
    return true
  }

  /**
   * Stores a copy. Sets of `childKind` that refer to the replaced set are removed; those of the new set follow it.
   * Throws 'corrupt' for a set that is too long: otherwise a camera that sends megabytes as parameter sets could fill
   * the memory.
   */
  put(set: { kind: number; id: number; parentId: number }, content: Uint8Array, childKind?: number): void {
    if (content.length > maxSetBytes)
      throw new AppError('corrupt', `expected a parameter set of at most ${maxSetBytes} bytes, got ${content.length}`)
    if (this.#sets.size >= maxSets) this.#sets.clear()
    for (const [key, { kind, parentId }] of this.#sets) {
      if (kind === childKind && parentId === set.id) this.#sets.delete(key)
    }
    this.#sets.set(keyOf(set.kind, set.id), { ...set, bytes: content.slice() })
    this.hasChanged = true
  }

  /** Returns the sets in the order of their ids. */
  list(kind: number): StoredSet[] {
    return [...this.#sets.values()].filter((set) => set.kind === kind).sort((a, b) => a.id - b.id)
  }
}

function keyOf(kind: number, id: number): number {
  return id * 64 + kind
}
