// Parameter sets by kind and id, as decoders keep them: a new one replaces the one with its id, and what refers to that is void.

import { AppError } from '../../base/error.ts'

/** More than any encoder uses; a stream that sends more is broken and must not fill the memory. */
const maxSets = 96

/** What a decoder configuration can say of one; real ones have some hundred bytes. */
const maxSetBytes = 0xffff

/** `parentId`: of the set it refers to. */
type KeptSet = { readonly kind: number; readonly id: number; readonly parentId: number; readonly bytes: Uint8Array }

export class ParameterSetStore {
  readonly #sets = new Map<number, KeptSet>()
  /** Whether any set changed; whoever looks resets it. */
  hasChanged = false

  /** True when `bytes[start, end)` is the set that is kept under this id. */
  has(kind: number, id: number, bytes: Uint8Array, start: number, end: number): boolean {
    const known = this.#sets.get(keyOf(kind, id))?.bytes
    if (!known || known.length !== end - start) return false
    for (let i = 0; i < known.length; i++) if (known[i] !== bytes[start + i]) return false
    return true
  }

  /**
   * Keeps a copy. Sets of `childKind` that refer to the one replaced go: those of the new one follow it. Throws 'corrupt' for one that is
   * too long: pictures may have megabytes, and so many of those would be kept for each camera.
   */
  put(set: { kind: number; id: number; parentId: number }, content: Uint8Array, childKind?: number): void {
    if (content.length > maxSetBytes) throw new AppError('corrupt', `a parameter set of ${content.length} bytes`)
    if (this.#sets.size >= maxSets) this.#sets.clear()
    for (const [key, { kind, parentId }] of this.#sets) {
      if (kind === childKind && parentId === set.id) this.#sets.delete(key)
    }
    this.#sets.set(keyOf(set.kind, set.id), { ...set, bytes: content.slice() })
    this.hasChanged = true
  }

  /** In the order of their ids. */
  list(kind: number): KeptSet[] {
    return [...this.#sets.values()].filter((set) => set.kind === kind).sort((a, b) => a.id - b.id)
  }
}

function keyOf(kind: number, id: number): number {
  return id * 64 + kind
}
