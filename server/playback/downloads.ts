// Downloads of recorded ranges as one progressive MP4 file each.

import type { Catalog } from '../archive/catalog.ts'
import type { OpenRecording } from '../archive/recording-file.ts'
import { streamNotFound } from './active-streams.ts'
import { DownloadBody } from './download-bytes.ts'
import { createDownloadLayout } from './download-layout.ts'
import { DownloadLayoutCache } from './download-layout-cache.ts'
import { createMediaBytes, type MediaBytes } from './media-bytes.ts'
import { RecordedSamples } from './recorded-samples.ts'
import type { StreamRow } from './stream-rows.ts'

export type DownloadBytes = MediaBytes & { readonly etag: string }

export type DownloadHeaders = { readonly range?: string | undefined; readonly ifRange?: string | undefined }

/** Longest range of a download. The layout of a download is kept in memory and has some bytes for every frame. */
export const maxDownloadMs = 3 * 3_600_000

export class Downloads {
  readonly #catalog: Pick<Catalog, 'listSegments' | 'bounds'>
  readonly #open: OpenRecording
  readonly #layouts: DownloadLayoutCache
  readonly #samples: RecordedSamples

  /** `maxLayoutBytes`: see `DownloadLayoutCache`. */
  constructor(catalog: Pick<Catalog, 'listSegments' | 'bounds' | 'open'>, maxLayoutBytes: number) {
    this.#catalog = catalog
    this.#layouts = new DownloadLayoutCache(maxLayoutBytes)
    this.#open = (segment) => catalog.open(segment)
    this.#samples = new RecordedSamples(this.#open)
  }

  /**
   * Opens the range of a stream as one file. With `keepsGaps`, gaps keep their duration; otherwise they are left out.
   * Throws 'not_found' when the stream is longer than a download may be, has no end, or nothing is recorded in its
   * range, and 'unavailable' when the user has too many.
   */
  async open(
    streamId: string,
    { cameraId, userId, startMs, endMs }: Pick<StreamRow, 'cameraId' | 'userId' | 'startMs' | 'endMs'>,
    keepsGaps: boolean,
    { range, ifRange }: DownloadHeaders,
  ): Promise<DownloadBytes> {
    if (endMs === undefined || endMs - startMs > maxDownloadMs) throw streamNotFound()
    const layout = await this.#layouts.load(`${streamId} ${keepsGaps}`, userId, async () => {
      const segments = await this.#catalog.listSegments(cameraId, startMs, endMs)
      const footage = keepsGaps ? await this.#catalog.bounds(cameraId) : undefined
      return createDownloadLayout(this.#open, this.#samples, segments, {
        ...{ startMs, endMs, keepsGaps },
        isPreceded: footage !== undefined && footage.startMs < startMs,
        isContinued: footage !== undefined && footage.endMs > endMs,
      })
    })
    const { totalBytes, etag } = layout
    const isSame = ifRange === undefined || ifRange === etag
    const answer = await createMediaBytes(
      totalBytes,
      isSame ? range : undefined,
      async (span) => new DownloadBody(this.#open, layout, span, cameraId, this.#layouts.hold(userId, layout)),
    )
    return { ...answer, etag }
  }
}
