// Reads a segment's file without its index row: which fragments are whole, and where they are. Reads heads only, never the
// samples, so a minute of video costs a few kilobytes of reading.

import { type FileHandle, open } from 'node:fs/promises'
import { AppError } from '../base/error.ts'
import { maxBoxHeaderBytes, parseBoxHeader } from '../media/mp4/box-scanner.ts'
import { parseMovieFragment, parseProducerReferenceTime } from '../media/mp4/fragment-head.ts'
import { videoTimescale, videoTrackId } from '../media/mp4/init-segment.ts'
import type { Fragment } from '../model/segment.ts'

export type SegmentScan = {
  /** `ftyp` and `moov`; 0 when they are not whole. */
  readonly initBytes: number
  /** End of the last whole fragment. */
  readonly bytes: number
  /** Length of the file; more than `bytes` when it ends in rubbish. */
  readonly fileBytes: number
  readonly fragments: readonly Fragment[]
  /** Set when the rubbish is not just a cut-off box. */
  readonly damage: string | undefined
}

const maxHeadBytes = 4 * 1024 * 1024

/** Throws the system's error when the file cannot be read; damaged bytes are no error. */
export async function scanSegmentFile(path: string): Promise<SegmentScan> {
  await using file = await open(path, 'r')
  const { size: fileBytes } = await file.stat()
  let initBytes = 0
  let bytes = 0
  let damage: string | undefined
  const found: FoundFragment[] = []
  try {
    initBytes = bytes = await findInitEnd(file, fileBytes)
    while (initBytes > 0) {
      const fragment = await findFragment(file, bytes, fileBytes)
      if (!fragment) break
      bytes += fragment.bytes
      found.push(fragment)
    }
  } catch (error) {
    if (!(error instanceof AppError && error.kind === 'corrupt')) throw error
    damage = error.message
  }
  return { initBytes, bytes, fileBytes, fragments: toFragments(found), damage }
}

type FoundFragment = Omit<Fragment, 'startMs' | 'durationMs'> & { readonly startMs: number | undefined }

/** Where `ftyp` and `moov` end, 0 when the file ends before. */
async function findInitEnd(file: FileHandle, fileBytes: number): Promise<number> {
  let offset = 0
  for (const type of ['ftyp', 'moov']) {
    const header = await readHeader(file, offset, fileBytes)
    if (!header) return 0
    if (header.type !== type)
      throw new AppError('corrupt', `expected box ${type} at byte ${offset}, got ${header.type}`)
    offset += header.bytes
  }
  return offset
}

/** The fragment at `start`: boxes up to its `mdat`. Undefined when the file ends first. */
async function findFragment(file: FileHandle, start: number, fileBytes: number): Promise<FoundFragment | undefined> {
  let startMs: number | undefined
  let video: { start90k: number; duration90k: number; isKey: boolean } | undefined
  let dataBytes = 0
  for (let offset = start; ; ) {
    const header = await readHeader(file, offset, fileBytes)
    if (!header) return undefined
    if (header.type === 'prft') startMs = parseProducerReferenceTime(await readBox(file, offset, header.bytes))
    else if (header.type === 'moof') {
      const { tracks } = parseMovieFragment(await readBox(file, offset, header.bytes))
      const track = tracks.find(({ trackId }) => trackId === videoTrackId)
      if (track) video = { start90k: track.baseDecodeTime, duration90k: track.duration, isKey: track.firstIsKey }
      dataBytes = tracks.reduce((sum, { dataBytes }) => sum + dataBytes, 0)
    } else if (header.type === 'mdat') {
      if (!video) throw new AppError('corrupt', `expected a moof with video before the mdat at byte ${offset}`)
      if (header.bytes !== header.headerBytes + dataBytes) {
        throw new AppError('corrupt', `expected ${dataBytes} bytes of samples in the mdat at byte ${offset}`)
      }
      return { ...video, startMs, offset: start, bytes: offset + header.bytes - start }
    }
    offset += header.bytes
  }
}

/** Undefined when the box is not whole in the file. */
async function readHeader(file: FileHandle, offset: number, fileBytes: number) {
  if (offset >= fileBytes) return undefined
  const { buffer, bytesRead } = await file.read(new Uint8Array(maxBoxHeaderBytes), 0, maxBoxHeaderBytes, offset)
  const header = parseBoxHeader(buffer.subarray(0, bytesRead))
  return header && offset + header.bytes <= fileBytes ? header : undefined
}

async function readBox(file: FileHandle, offset: number, bytes: number): Promise<Uint8Array> {
  if (bytes > maxHeadBytes) throw new AppError('corrupt', `expected a head below ${maxHeadBytes} bytes, got ${bytes}`)
  const { buffer, bytesRead } = await file.read(new Uint8Array(bytes), 0, bytes, offset)
  return buffer.subarray(0, bytesRead)
}

/** Wall clock durations last to the next fragment, as the recorder counts them. */
function toFragments(found: readonly FoundFragment[]): Fragment[] {
  const fragments: Fragment[] = []
  let nextMs = 0
  for (const [i, f] of found.entries()) {
    const startMs = f.startMs ?? nextMs
    const mediaMs = Math.round((f.duration90k * 1000) / videoTimescale)
    const durationMs = Math.max(0, (found[i + 1]?.startMs ?? startMs + mediaMs) - startMs)
    fragments.push({ ...f, startMs, durationMs })
    nextMs = startMs + durationMs
  }
  return fragments
}
