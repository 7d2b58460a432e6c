// Reads any bytes of a download from the files of the archive, one chunk at a time. Nothing is copied or cached.

import type { FileHandle } from 'node:fs/promises'
import { AppError } from '../base/error.ts'
import { checksumBoxBytes } from '../media/mp4/checksum-box.ts'
import type { ByteSpan } from './byte-range.ts'
import type { DownloadPart } from './download-data.ts'
import type { DownloadLayout } from './download-layout.ts'
import { checkCameraId, openRecording, readExactly } from './recording-file.ts'

const chunkBytes = 256 * 1024

/**
 * Closes the open file when it is read to the end or `return()` is called. Throws 'not_found' when a file is gone, and
 * 'corrupt' when a file belongs to another camera.
 */
export async function* readDownload(
  { head, parts }: Pick<DownloadLayout, 'head' | 'parts'>,
  { first, last }: ByteSpan,
  cameraId: number,
): AsyncGenerator<Uint8Array, void, void> {
  let at = first
  if (at < head.length) {
    const bytes = head.subarray(at, last + 1)
    yield bytes
    at += bytes.length
  }
  let open: { readonly path: string; readonly file: FileHandle } | undefined
  try {
    for (let i = findPart(parts, at); at <= last; i++) {
      const part = parts[i]
      if (!part) throw new AppError('corrupt', `expected footage at byte ${at} of the download`)
      if (part.data) {
        const bytes = part.data.subarray(at - part.at, last + 1 - part.at)
        yield bytes
        at += bytes.length
        continue
      }
      if (open?.path !== part.path) {
        await open?.file.close()
        open = undefined
        open = { path: part.path, file: await openRecording(part.path) }
      }
      checkCameraId(await readExactly(open.file, part.fragmentOffset, checksumBoxBytes), cameraId)
      const end = Math.min(last + 1, part.at + part.bytes)
      while (at < end) {
        const bytes = await readExactly(open.file, part.offset + at - part.at, Math.min(chunkBytes, end - at))
        yield bytes
        at += bytes.length
      }
    }
  } finally {
    await open?.file.close()
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
