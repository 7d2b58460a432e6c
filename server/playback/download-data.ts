// What follows the head of a download: places in the archive's files one after the other, and what is put between them.

import type { TrackSamples } from '../media/mp4/fragment-samples.ts'

export type DownloadPart = {
  /** The bytes themselves; undefined when they lie in a file. */
  readonly data?: Uint8Array
  readonly path: string
  /** Of the fragment, which begins with its seal. */
  readonly fragmentOffset: number
  /** Of the samples in the file of the archive. */
  readonly offset: number
  readonly bytes: number
  /** Of the samples in the download. */
  readonly at: number
}

type Place = Pick<DownloadPart, 'path' | 'fragmentOffset' | 'offset'>

export class DownloadData {
  readonly parts: DownloadPart[] = []
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  /** Returns where they lie. */
  addBytes(data: Uint8Array): number {
    return this.#add({ data, path: '', fragmentOffset: 0, offset: 0 }, data.length)
  }

  /** The samples lie one after the other from `place` on. Returns where they lie here, and their sizes with what stands before key frames. */
  addSamples(
    place: Place,
    { sizes, isKey }: Pick<TrackSamples, 'sizes' | 'isKey'>,
    beforeKeys: Uint8Array | undefined,
  ): { readonly at: number; readonly sizes: readonly number[] } {
    const at = this.#bytes
    let offset = place.offset
    let pending = 0
    const flush = () => {
      if (pending > 0) this.#add({ ...place, offset }, pending)
      offset += pending
      pending = 0
    }
    for (const [i, size] of sizes.entries()) {
      if (beforeKeys && isKey[i]) {
        flush()
        this.addBytes(beforeKeys)
      }
      pending += size
    }
    flush()
    return { at, sizes: beforeKeys ? sizes.map((size, i) => size + (isKey[i] ? beforeKeys.length : 0)) : sizes }
  }

  #add(place: Place & { readonly data?: Uint8Array }, bytes: number): number {
    const at = this.#bytes
    const last = this.parts.at(-1)
    // What continues the part before is read with it.
    const isNext =
      last &&
      !last.data &&
      !place.data &&
      last.path === place.path &&
      last.fragmentOffset === place.fragmentOffset &&
      last.offset + last.bytes === place.offset
    if (isNext) this.parts[this.parts.length - 1] = { ...last, bytes: last.bytes + bytes }
    else this.parts.push({ ...place, bytes, at })
    this.#bytes += bytes
    return at
  }
}
