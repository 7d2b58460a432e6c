// Opens the files that the playlist of a recorded stream names. Their bytes come from the files of the archive, with
// times shifted to the stream's time axis.

import type { Catalog } from '../archive/catalog.ts'
import { type OpenRecording, readExactly } from '../archive/recording-file.ts'
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
  readonly #catalog: Pick<Catalog, 'findSegment'>
  readonly #open: OpenRecording
  readonly #budget = new ByteBudget(maxClosedBytes)
  readonly #inits = new InitSections()

  constructor(catalog: Pick<Catalog, 'findSegment' | 'open'>) {
    this.#catalog = catalog
    this.#open = (segment) => catalog.open(segment)
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
    if (file.kind === 'init') {
      const init = await this.#readInit(segment, file.tracks)
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
        return openShiftedFile(this.#open, segment, span, {
          shift: file.shift,
          hidesAudio: file.hidesAudio,
          budget: this.#budget,
          inits: this.#inits,
        })
      })
    }
    if (file.kind === 'silent') {
      await onFetch(file.sequence)
      const { totalBytes, open } = layoutSilentEntry(this.#open, segment, {
        ...file,
        budget: this.#budget,
        inits: this.#inits,
      })
      return createMediaBytes(totalBytes, range, open)
    }
    const layout = await layoutKeyFrames(this.#open, segment, file)
    await onFetch(file.sequence)
    return createMediaBytes(
      layout.totalBytes,
      range,
      async (span) => new DownloadBody(this.#open, layout, span, segment.cameraId),
    )
  }

  async #readInit(segment: Segment, tracks: InitFile['tracks']): Promise<Uint8Array> {
    await using file = await this.#open(segment)
    const init = await readExactly(file, 0, segment.initBytes)
    return tracks === 'all' ? init : tracks === 'video' ? writeVideoInit(init) : addSilentTrack(init)
  }

  async #findSegment(file: FoundFile): Promise<Segment | undefined> {
    if (file.kind === 'key_frames' || file.kind === 'silent') return this.#catalog.findSegment(file.entry.segmentId)
    const segment = await this.#catalog.findSegment(file.segmentId)
    if (segment || file.kind !== 'init' || file.fallbackSegmentId === undefined) return segment
    return this.#catalog.findSegment(file.fallbackSegmentId)
  }
}

type InitFile = Extract<StreamFile, { kind: 'init' }>
