// The data of a download after its head: ranges of files in the archive, and inserted bytes.

import type { ReadRun } from '../media/mp4/sample-records.ts'
import type { SegmentLocation } from '../model/segment-views.ts'

export type DownloadPart = {
  /** Inserted bytes; undefined for a range of a file. */
  readonly data?: Uint8Array
  /** Whose file it is in; undefined for inserted bytes. */
  readonly segment: SegmentLocation | undefined
  /** Offset of the fragment, which begins with its checksum box. */
  readonly fragmentOffset: number
  /** Offset of the samples in the file of the archive. */
  readonly offset: number
  bytes: number
  /** Offset of the samples in the download. */
  at: number
}

type Place = Pick<DownloadPart, 'segment' | 'fragmentOffset' | 'offset'>

export class DownloadData {
  readonly parts: DownloadPart[] = []
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  /** Returns the offset of the bytes. */
  addBytes(data: Uint8Array): number {
    return this.#add({ data, segment: undefined, fragmentOffset: 0, offset: 0 }, data.length)
  }

  /**
   * Adds consecutive samples that begin at `place`, with `keyPrefix` before each key frame, whose sizes then include it.
   * Returns their offset.
   */
  addSamples(
    place: Place,
    { count, dataBytes, sizes, isKey }: Pick<ReadRun, 'count' | 'dataBytes' | 'sizes' | 'isKey'>,
    keyPrefix: Uint8Array | undefined,
  ): number {
    const at = this.#bytes
    if (!keyPrefix) return this.#add(place, dataBytes)
    let { offset } = place
    let pending = 0
    const flush = () => {
      if (pending > 0) this.#add({ ...place, offset }, pending)
      offset += pending
      pending = 0
    }
    for (let i = 0; i < count; i++) {
      if (isKey[i]) {
        flush()
        this.addBytes(keyPrefix)
      }
      pending += sizes[i]!
      if (isKey[i]) sizes[i]! += keyPrefix.length
    }
    flush()
    return at
  }

  #add(place: Place & { readonly data?: Uint8Array }, bytes: number): number {
    const at = this.#bytes
    const last = this.parts.at(-1)
    // A range that continues the previous one is merged with it.
    const isNext =
      last &&
      !last.data &&
      !place.data &&
      last.segment === place.segment &&
      last.fragmentOffset === place.fragmentOffset &&
      last.offset + last.bytes === place.offset
    if (isNext) last.bytes += bytes
    else this.parts.push({ ...place, bytes, at })
    this.#bytes += bytes
    return at
  }
}
