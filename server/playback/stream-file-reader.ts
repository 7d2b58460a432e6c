// Opens the files that the playlist of a recorded stream names. Their bytes come from the files of the archive, with
// times shifted to the stream's time axis.

import { join } from 'node:path'
import type { Catalog } from '../archive/catalog.ts'
import { openRecording, readExactly } from '../archive/recording-file.ts'
import { ByteBudget } from '../base/byte-budget.ts'
import { addSilentTrack } from '../media/mp4/silent-track.ts'
import { writeVideoInit } from '../media/mp4/video-init.ts'
import { endOfFootage, type Segment } from '../model/segment.ts'
import { DownloadBody } from './download-bytes.ts'
import { layoutKeyFrames } from './key-frames.ts'
import { BytesBody, createMediaBytes, type MediaBytes } from './media-bytes.ts'
import type { FoundFile } from './recorded-stream.ts'
import { InitSections, openShiftedFile } from './shifted-file.ts'
import { layoutSilentEntry } from './silent-entry.ts'
import type { StreamFile } from './stream-part.ts'

/** Limit for fragments that are completely in memory while they are sent, for all streams together. */
const maxClosedBytes = 64 * 1024 * 1024

export class StreamFileReader {
  readonly #catalog: Pick<Catalog, 'findSegment' | 'archiveDir'>
  readonly #budget = new ByteBudget(maxClosedBytes)
  readonly #inits = new InitSections()

  constructor(catalog: Pick<Catalog, 'findSegment' | 'archiveDir'>) {
    this.#catalog = catalog
  }

  /**
   * Returns undefined when the segment of the file has been deleted from the index. `range` is the Range header of the
   * request. `onFetch` is called with the number of the entry that is fetched. Throws 'not_found' when the file is
   * gone.
   */
  async open(
    file: FoundFile,
    range: string | undefined,
    onFetch: (sequence: number) => Promise<void>,
  ): Promise<MediaBytes | undefined> {
    const segment = await this.#findSegment(file)
    if (!segment) return undefined
    const { archiveDir } = this.#catalog
    const path = join(archiveDir, segment.path)
    if (file.kind === 'init') {
      const init = await readInit(path, segment.initBytes, file.tracks)
      return createMediaBytes(
        init.length,
        range,
        async ({ first, last }) => new BytesBody(init.subarray(first, last + 1)),
      )
    }
    if (file.kind === 'segment') {
      return createMediaBytes(endOfFootage(segment), range, async (span) => {
        // Without an entry at this byte, the initialization section is fetched.
        const sequence = file.part.findSequence(segment.id, span.first)
        if (sequence !== undefined) await onFetch(sequence)
        return openShiftedFile(path, segment, span, {
          shift: file.shift,
          hidesAudio: file.hidesAudio,
          budget: this.#budget,
          inits: this.#inits,
        })
      })
    }
    if (file.kind === 'silent') {
      await onFetch(file.sequence)
      const { totalBytes, open } = layoutSilentEntry(path, segment, {
        ...file,
        budget: this.#budget,
        inits: this.#inits,
      })
      return createMediaBytes(totalBytes, range, open)
    }
    const layout = await layoutKeyFrames(archiveDir, segment, file)
    await onFetch(file.sequence)
    return createMediaBytes(layout.totalBytes, range, async (span) => new DownloadBody(layout, span, segment.cameraId))
  }

  async #findSegment(file: FoundFile): Promise<Segment | undefined> {
    if (file.kind === 'key_frames' || file.kind === 'silent') return this.#catalog.findSegment(file.entry.segmentId)
    const segment = await this.#catalog.findSegment(file.segmentId)
    if (segment || file.kind !== 'init' || file.fallbackSegmentId === undefined) return segment
    return this.#catalog.findSegment(file.fallbackSegmentId)
  }
}

type InitFile = Extract<StreamFile, { kind: 'init' }>

async function readInit(path: string, initBytes: number, tracks: InitFile['tracks']): Promise<Uint8Array> {
  await using file = await openRecording(path)
  const init = await readExactly(file, 0, initBytes)
  return tracks === 'all' ? init : tracks === 'video' ? writeVideoInit(init) : addSilentTrack(init)
}
