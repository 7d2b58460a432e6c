// The data of a download after its head: ranges of files in the archive, and inserted bytes.

import type { TrackSamples } from '../media/mp4/fragment-samples.ts'

export type DownloadPart = {
  /** Inserted bytes; undefined for a range of a file. */
  readonly data?: Uint8Array
  readonly path: string
  /** Offset of the fragment, which begins with its checksum box. */
  readonly fragmentOffset: number
  /** Offset of the samples in the file of the archive. */
  readonly offset: number
  readonly bytes: number
  /** Offset of the samples in the download. */
  readonly at: number
}

type Place = Pick<DownloadPart, 'path' | 'fragmentOffset' | 'offset'>

export class DownloadData {
  readonly parts: DownloadPart[] = []
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  /** Returns the offset of the bytes. */
  addBytes(data: Uint8Array): number {
    return this.#add({ data, path: '', fragmentOffset: 0, offset: 0 }, data.length)
  }

  /**
   * Adds consecutive samples that begin at `place`, with `keyPrefix` before each key frame. Returns their offset and
   * their sizes including the prefix.
   */
  addSamples(
    place: Place,
    { sizes, isKey }: Pick<TrackSamples, 'sizes' | 'isKey'>,
    keyPrefix: Uint8Array | undefined,
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
      if (keyPrefix && isKey[i]) {
        flush()
        this.addBytes(keyPrefix)
      }
      pending += size
    }
    flush()
    return { at, sizes: keyPrefix ? sizes.map((size, i) => size + (isKey[i] ? keyPrefix.length : 0)) : sizes }
  }

  #add(place: Place & { readonly data?: Uint8Array }, bytes: number): number {
    const at = this.#bytes
    const last = this.parts.at(-1)
    // A range that continues the previous one is merged with it.
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
