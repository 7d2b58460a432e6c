// Reads any bytes of a download from the files of the archive. Nothing is copied or cached.

import { checkCameraId, type OpenRecording, readExactly, readInto } from '../archive/recording-file.ts'
import { AppError } from '../base/error.ts'
import { checksumBoxBytes } from '../media/mp4/checksum-box.ts'
import type { FootageFile } from '../places/place-files.ts'
import type { ByteSpan } from './byte-range.ts'
import type { DownloadPart } from './download-data.ts'
import type { DownloadLayout } from './download-layout.ts'
import type { MediaBody } from './media-bytes.ts'

/** Less than this between two parts of a file is read with them, into `ignored`. */
const maxSkippedBytes = 64 * 1024
/** Of all readers together: nobody looks at it. */
const ignored = new Uint8Array(maxSkippedBytes)
/** Linux takes 1,024 (IOV_MAX). */
const maxViews = 512

export class DownloadBody implements MediaBody {
  readonly #openFile: OpenRecording
  readonly #head: Uint8Array
  readonly #parts: readonly DownloadPart[]
  readonly #cameraId: number
  readonly #end: number
  readonly #hold: Disposable | undefined
  /** Offset of the next byte, and the part that it is in. */
  #at: number
  #index: number
  #open: { readonly id: number; readonly file: FootageFile } | undefined

  /**
   * Reading throws 'not_found' when a file is gone, and 'corrupt' when a file belongs to another camera. `hold` is disposed
   * of with the body.
   */
  constructor(
    open: OpenRecording,
    { head, parts }: Pick<DownloadLayout, 'head' | 'parts'>,
    { first, last }: ByteSpan,
    cameraId: number,
    hold?: Disposable,
  ) {
    this.#openFile = open
    this.#hold = hold
    this.#head = head
    this.#parts = parts
    this.#cameraId = cameraId
    this.#end = last + 1
    this.#at = first
    this.#index = findPart(parts, first)
  }

  async read(target: Uint8Array): Promise<number> {
    let filled = 0
    if (this.#at < this.#head.length) {
      const bytes = this.#head.subarray(this.#at, Math.min(this.#end, this.#at + target.length))
      target.set(bytes)
      this.#at += bytes.length
      filled = bytes.length
    }
    while (filled < target.length && this.#at < this.#end) filled += await this.#readRow(target.subarray(filled))
    return filled
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hold?.[Symbol.dispose]()
    await this.#open?.file.close()
  }

  /** Reads parts that follow each other in one file, with one system call. */
  async #readRow(target: Uint8Array): Promise<number> {
    const views: Uint8Array[] = []
    let id: number | undefined
    let beginOffset = 0
    let endOffset = 0
    let filled = 0
    while (filled < target.length && this.#at < this.#end && views.length < maxViews) {
      const part = this.#parts[this.#index]
      if (!part) throw new AppError('corrupt', `expected footage at byte ${this.#at} of the download`)
      const skipped = this.#at - part.at
      const bytes = Math.min(part.bytes - skipped, target.length - filled, this.#end - this.#at)
      if (part.data) {
        target.set(part.data.subarray(skipped, skipped + bytes), filled)
      } else {
        const offset = part.offset + skipped
        id ??= part.segment!.id
        if (views.length === 0) beginOffset = endOffset = offset
        const between = offset - endOffset
        if (part.segment!.id !== id || between < 0 || between > maxSkippedBytes) break
        if (between > 0) views.push(ignored.subarray(0, between))
        views.push(target.subarray(filled, filled + bytes))
        endOffset = offset + bytes
        if (this.#open?.id !== id) await this.#openPart(part)
      }
      filled += bytes
      this.#at += bytes
      if (skipped + bytes === part.bytes) this.#index++
    }
    if (views.length > 0) await readViews(this.#open!.file, beginOffset, views)
    return filled
  }

  async #openPart({ segment, fragmentOffset }: DownloadPart): Promise<void> {
    await this.#open?.file.close()
    this.#open = undefined
    const file = await this.#openFile(segment!)
    this.#open = { id: segment!.id, file }
    checkCameraId(await readExactly(file, fragmentOffset, checksumBoxBytes), this.#cameraId)
  }
}

/** Throws 'corrupt' when the file is shorter. */
async function readViews(file: FootageFile, at: number, views: readonly Uint8Array[]): Promise<void> {
  let { bytesRead } = await file.readv(views, at)
  for (const view of views) {
    if (bytesRead < view.length) await readInto(file, at + bytesRead, view.subarray(bytesRead))
    at += view.length
    bytesRead = Math.max(0, bytesRead - view.length)
  }
}

function findPart(parts: readonly DownloadPart[], at: number): number {
  let low = 0
  let high = parts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (parts[middle]!.at + parts[middle]!.bytes <= at) low = middle + 1
    else high = middle
  }
  return low
}
