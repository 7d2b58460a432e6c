// What a download's tables need of each file: the samples of its fragments, without their bytes. They are kept for files
// that are closed, so that the second download over a file reads nothing of it.

import { readHeadSamples, readIndexedSamples } from '../archive/file-samples.ts'
import type { OpenRecording } from '../archive/recording-file.ts'
import type { Segment } from '../model/segment.ts'

type SampledSegment = Pick<
  Segment,
  'id' | 'placeId' | 'path' | 'cameraId' | 'initBytes' | 'fragments' | 'bytes' | 'checksum' | 'isClosed'
>

/** A minute takes 4 to 10 kB. */
const maxCacheBytes = 16 * 1024 * 1024

export class RecordedSamples {
  readonly #open: OpenRecording
  /** By segment, least recently used first. */
  readonly #records = new Map<number, Uint8Array>()
  #cachedBytes = 0

  constructor(open: OpenRecording) {
    this.#open = open
  }

  /** The records of all fragments of the segment. Throws 'not_found' when the file is gone, and 'corrupt'. */
  async read(segment: SampledSegment): Promise<Uint8Array> {
    const known = this.#records.get(segment.id)
    const records = known ?? (await this.#read(segment))
    // A file that its recorder left open has no checksum yet: its repair may find more fragments than were reported.
    if (segment.isClosed && segment.checksum !== undefined) this.#keep(segment.id, records)
    return records
  }

  async #read(segment: SampledSegment): Promise<Uint8Array> {
    await using file = await this.#open(segment)
    return (await readIndexedSamples(file, segment)) ?? (await readHeadSamples(file, segment)).records
  }

  #keep(id: number, records: Uint8Array): void {
    const known = this.#records.get(id)
    if (known) this.#records.delete(id)
    else this.#cachedBytes += records.length
    this.#records.set(id, records)
    for (const [oldest, { length }] of this.#records) {
      if (this.#cachedBytes <= maxCacheBytes) break
      this.#records.delete(oldest)
      this.#cachedBytes -= length
    }
  }
}
