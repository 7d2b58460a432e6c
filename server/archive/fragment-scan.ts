// Reads one fragment of a segment's file from the disk without using the index: its boxes, and whether its bytes match
// its checksum.

import { AppError } from '../base/error.ts'
import { maxBoxHeaderBytes, parseBoxHeader } from '../media/mp4/box-scanner.ts'
import { type ChecksumBox, parseChecksumBox } from '../media/mp4/checksum-box.ts'
import { parseMovieFragment, parseProducerReferenceTime } from '../media/mp4/fragment-head.ts'
import { type FragmentNote, parseFragmentNote } from '../media/mp4/fragment-note.ts'
import { videoTrackId } from '../media/mp4/init-segment.ts'
import type { FragmentHole } from '../model/segment.ts'
import type { FootageFile } from '../places/place-files.ts'
import { fragmentChecksum } from './segment-checksum.ts'

export type FoundFragment = {
  readonly offset: number
  readonly bytes: number
  readonly start90k: number
  readonly duration90k: number
  readonly isKey: boolean
  /** Wall clock of the first frame, in Unix milliseconds. Undefined if the file does not contain it. */
  readonly startMs: number | undefined
  readonly hole: FragmentHole | undefined
  readonly isDamaged: boolean
  /** Undefined for files from before there were checksum boxes. */
  readonly seal: ChecksumBox | undefined
  /** Where the bytes begin that the checksum covers. */
  readonly contentOffset: number
}

const maxHeadBytes = 4 * 1024 * 1024
const verifyChunkBytes = 1024 * 1024

/** Reads the small boxes of a file with few reads, because heads are next to each other. */
export class BoxReader {
  readonly #file: FootageFile
  readonly fileBytes: number
  #window = new Uint8Array(0)
  #windowAt = 0

  constructor(file: FootageFile, fileBytes: number) {
    this.#file = file
    this.fileBytes = fileBytes
  }

  /** Returns undefined when the box is not complete in the file. Throws 'corrupt' for bytes that are no box. */
  async header(offset: number) {
    if (offset >= this.fileBytes) return undefined
    const bytes = await this.#read(offset, Math.min(maxBoxHeaderBytes, this.fileBytes - offset))
    const header = parseBoxHeader(bytes)
    return header && offset + header.bytes <= this.fileBytes ? header : undefined
  }

  /** Reads a complete box. Throws 'corrupt' when it is too large for a head, or the file ends. */
  async box(offset: number, bytes: number): Promise<Uint8Array> {
    if (bytes > maxHeadBytes) throw new AppError('corrupt', `expected a head below ${maxHeadBytes} bytes, got ${bytes}`)
    return this.#read(offset, bytes)
  }

  async #read(offset: number, bytes: number): Promise<Uint8Array> {
    const start = offset - this.#windowAt
    if (start < 0 || start + bytes > this.#window.length) {
      const buffer = new Uint8Array(Math.max(bytes, 4096))
      const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, offset)
      if (bytesRead < bytes) throw new AppError('corrupt', `expected ${bytes} bytes at ${offset}, the file ends`)
      this.#window = buffer.subarray(0, bytesRead)
      this.#windowAt = offset
    }
    return this.#window.subarray(offset - this.#windowAt, offset - this.#windowAt + bytes)
  }
}

/**
 * Reads the fragment at `start`: boxes up to its `mdat`. Returns undefined when the file ends first. Throws 'corrupt'.
 */
export async function findFragment(reader: BoxReader, start: number): Promise<FoundFragment | undefined> {
  let startMs: number | undefined
  let seal: ChecksumBox | undefined
  let note: FragmentNote | undefined
  let contentOffset = start
  let video: Pick<FoundFragment, 'start90k' | 'duration90k' | 'isKey'> | undefined
  let dataBytes = 0
  for (let offset = start; ; ) {
    const header = await reader.header(offset)
    if (!header) return undefined
    if (header.type === 'uuid') {
      const box = await reader.box(offset, header.bytes)
      note ??= parseFragmentNote(box)
      seal ??= parseChecksumBox(box)
      if (seal && contentOffset === start) contentOffset = offset + header.bytes
    } else if (header.type === 'prft') startMs = parseProducerReferenceTime(await reader.box(offset, header.bytes))
    else if (header.type === 'moof') {
      const { tracks } = parseMovieFragment(await reader.box(offset, header.bytes))
      const track = tracks.find(({ trackId }) => trackId === videoTrackId)
      if (track) video = { start90k: track.baseDecodeTime, duration90k: track.duration, isKey: track.firstIsKey }
      dataBytes = tracks.reduce((sum, { dataBytes }) => sum + dataBytes, 0)
    } else if (header.type === 'mdat') {
      if (!video) throw new AppError('corrupt', `expected a moof with video before the mdat at byte ${offset}`)
      if (header.bytes !== header.headerBytes + dataBytes) {
        throw new AppError('corrupt', `expected ${dataBytes} bytes of samples in the mdat at byte ${offset}`)
      }
      const { hole, isDamaged = false } = note ?? {}
      return {
        ...video,
        startMs,
        hole,
        isDamaged,
        seal,
        contentOffset,
        offset: start,
        bytes: offset + header.bytes - start,
      }
    }
    offset += header.bytes
  }
}

/** Reads the whole fragment. Returns true if it matches its checksum, or has none. */
export async function isFragmentIntact(file: FootageFile, fragment: FoundFragment): Promise<boolean> {
  if (!fragment.seal) return true
  const end = fragment.offset + fragment.bytes
  const chunk = new Uint8Array(Math.min(verifyChunkBytes, end - fragment.contentOffset))
  let value: number | undefined
  for (let at = fragment.contentOffset; at < end; ) {
    const { bytesRead } = await file.read(chunk, 0, Math.min(chunk.length, end - at), at)
    if (bytesRead === 0) return false
    value = fragmentChecksum([chunk.subarray(0, bytesRead)], value)
    at += bytesRead
  }
  return value === fragment.seal.checksum
}
