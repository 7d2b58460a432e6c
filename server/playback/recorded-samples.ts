// What a download's tables need of each file: the samples of its fragments, without their bytes. They are kept for files
// that are closed, so that the second download over a file reads nothing of it.

import { join } from 'node:path'
import { parseFragmentSamples } from '../media/mp4/fragment-samples.ts'
import { SampleRecordWriter } from '../media/mp4/sample-records.ts'
import type { Segment } from '../model/segment.ts'
import { openRecording, readMoof } from './recording-file.ts'

type SampledSegment = Pick<Segment, 'id' | 'path' | 'cameraId' | 'fragments' | 'isClosed'>

/** A minute takes 4 to 10 kB. */
const maxCacheBytes = 16 * 1024 * 1024
/** Heads of one file that are read at the same time. */
const readsAtOnce = 4

export class RecordedSamples {
  readonly #archiveDir: string
  /** By segment, least recently used first. */
  readonly #records = new Map<number, Uint8Array>()
  #cachedBytes = 0

  constructor(archiveDir: string) {
    this.#archiveDir = archiveDir
  }

  /** The records of all fragments of the segment. Throws 'not_found' when the file is gone, and 'corrupt'. */
  async read(segment: SampledSegment): Promise<Uint8Array> {
    const known = this.#records.get(segment.id)
    const records = known ?? (await this.#readHeads(segment))
    if (segment.isClosed) this.#keep(segment.id, records)
    return records
  }

  async #readHeads({ path, cameraId, fragments }: SampledSegment): Promise<Uint8Array> {
    await using file = await openRecording(join(this.#archiveDir, path))
    const writer = new SampleRecordWriter()
    for (let i = 0; i < fragments.length; i += readsAtOnce) {
      const some = fragments.slice(i, i + readsAtOnce)
      const moofs = await Promise.all(some.map((fragment) => readMoof(file, fragment, cameraId)))
      for (const [j, { moof, offset }] of moofs.entries()) {
        const moofOffset = offset - some[j]!.offset
        writer.add(parseFragmentSamples(moof).map((track) => ({ ...track, dataOffset: moofOffset + track.dataOffset })))
      }
    }
    return writer.read()
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
