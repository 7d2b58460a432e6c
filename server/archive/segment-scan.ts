// Scans a segment's file without its row: which fragments are complete, and where they are. Without `isVerified`, it
// reads only heads and no samples, so a minute of video costs a few kilobytes of reading.

import { open } from 'node:fs/promises'
import { AppError } from '../base/error.ts'
import { videoTimescale } from '../media/mp4/init-segment.ts'
import type { Fragment } from '../model/segment.ts'
import type { FootageFile } from '../places/place-files.ts'
import { maxIndexBytes, parseFileIndex } from './file-index.ts'
import { BoxReader, type FoundFragment, findFragment, isFragmentIntact } from './fragment-scan.ts'
import { addToChecksum, emptyChecksum, hashInit } from './segment-checksum.ts'

export type SegmentScan = {
  /** Length of `ftyp` and `moov`. 0 when they are not complete. */
  readonly initBytes: number
  /** Undefined when they are not complete. */
  readonly initHash: string | undefined
  /** End of the last complete fragment, or of the index behind it. */
  readonly bytes: number
  /** Of the index at the end of the file; 0 if it has none that is whole and of these fragments. */
  readonly indexBytes: number
  /** Length of the file. Larger than `bytes` when it ends in unusable bytes. */
  readonly fileBytes: number
  readonly fragments: readonly Fragment[]
  /** Checksum of all fragments. Undefined when one of them has none. */
  readonly checksum: number | undefined
  /** Set when the unusable bytes are more than a truncated box. */
  readonly damage: string | undefined
  /** Set when the scan ended at footage of another camera. */
  readonly foreignCameraId: number | undefined
}

export type ScanOptions = {
  /** Also reads the samples. The scan ends at the first fragment with a wrong checksum. */
  readonly isVerified?: boolean
  /** The scan ends at the first fragment of another camera. */
  readonly cameraId?: number
  /** The scan ends at the first fragment that ends later, Unix milliseconds: another server has recorded that time. */
  readonly untilMs?: number | undefined
}

/** Throws the system's error when the file cannot be read. Damaged bytes do not throw. */
export async function scanSegmentFile(path: string, options: ScanOptions = {}): Promise<SegmentScan> {
  await using file = await open(path, 'r')
  return await scanSegment(file, options)
}

/** The same for a file of any place. */
export async function scanSegment(file: FootageFile, options: ScanOptions = {}): Promise<SegmentScan> {
  const { size: fileBytes } = await file.stat()
  const reader = new BoxReader(file, fileBytes)
  const found: FoundFragment[] = []
  let initBytes = 0
  let initHash: string | undefined
  let bytes = 0
  let indexBytes = 0
  let damage: string | undefined
  let foreignCameraId: number | undefined
  try {
    initBytes = bytes = await findInitEnd(reader)
    if (initBytes > 0) initHash = hashInit(await reader.box(0, initBytes))
    while (initBytes > 0) {
      const fragment = await findFragment(reader, bytes)
      if (!fragment || isLate(fragment, options)) break
      if (isForeign(fragment, options)) foreignCameraId = fragment.seal!.cameraId
      await checkFragment(file, fragment, options)
      if (!fragment.seal && found[0]?.seal) throw new AppError('corrupt', `the fragment at byte ${bytes} has no seal`)
      bytes += fragment.bytes
      found.push(fragment)
    }
  } catch (error) {
    if (!(error instanceof AppError && error.kind === 'corrupt')) throw error
    damage = error.message
  }
  const checksum = sumChecksums(found)
  if (damage === undefined && (await hasIndex(reader, bytes, found))) {
    indexBytes = fileBytes - bytes
    bytes = fileBytes
  }
  const fragments = toFragments(found)
  return { initBytes, initHash, bytes, indexBytes, fileBytes, fragments, checksum, damage, foreignCameraId }
}

/** Whether all bytes from `end` on are the index of these fragments. */
async function hasIndex(reader: BoxReader, end: number, found: readonly FoundFragment[]): Promise<boolean> {
  const bytes = reader.fileBytes - end
  if (bytes === 0 || bytes > maxIndexBytes) return false
  const index = parseFileIndex(await reader.box(end, bytes))
  const cameraId = found[0]?.seal?.cameraId
  return index?.count === found.length && index.checksum === sumChecksums(found) && index.cameraId === cameraId
}

/** Where `ftyp` and `moov` end. 0 when the file ends earlier. Throws 'corrupt'. */
async function findInitEnd(reader: BoxReader): Promise<number> {
  let offset = 0
  for (const type of ['ftyp', 'moov']) {
    const header = await reader.header(offset)
    if (!header) return 0
    if (header.type !== type)
      throw new AppError('corrupt', `expected box ${type} at byte ${offset}, got ${header.type}`)
    offset += header.bytes
  }
  return offset
}

function isForeign({ seal }: FoundFragment, { cameraId }: ScanOptions): boolean {
  return seal !== undefined && cameraId !== undefined && seal.cameraId !== cameraId
}

function isLate({ startMs, duration90k }: FoundFragment, { untilMs }: ScanOptions): boolean {
  return untilMs !== undefined && startMs !== undefined && startMs + (duration90k * 1000) / videoTimescale > untilMs
}

async function checkFragment(file: FootageFile, fragment: FoundFragment, options: ScanOptions): Promise<void> {
  if (isForeign(fragment, options)) {
    throw new AppError('corrupt', `the fragment at byte ${fragment.offset} is of camera ${fragment.seal!.cameraId}`)
  }
  if (!options.isVerified || (await isFragmentIntact(file, fragment))) return
  throw new AppError('corrupt', `the checksum of the fragment at byte ${fragment.offset} is wrong`)
}

export function sumChecksums(found: readonly FoundFragment[]): number | undefined {
  let sum = emptyChecksum
  for (const { seal } of found) {
    if (!seal) return undefined
    sum = addToChecksum(sum, seal.checksum)
  }
  return sum
}

/** Wall clock durations last until the next fragment, or until a hole before it, as the recorder counts them. */
export function toFragments(found: readonly FoundFragment[]): Fragment[] {
  const fragments: Fragment[] = []
  let nextMs = 0
  for (const [i, { offset, bytes, start90k, duration90k, isKey, hole, isDamaged, ...f }] of found.entries()) {
    const startMs = f.startMs ?? nextMs
    const mediaMs = Math.round((duration90k * 1000) / videoTimescale)
    const next = found[i + 1]
    const cutMs = next?.hole?.isCut ? next.hole.durationMs : 0
    const durationMs = Math.max(0, (next?.startMs ?? startMs + mediaMs) - cutMs - startMs)
    fragments.push({
      offset,
      bytes,
      start90k,
      duration90k,
      startMs,
      durationMs,
      isKey,
      ...(hole && { hole }),
      ...(isDamaged && { isDamaged }),
    })
    nextMs = startMs + durationMs + cutMs
  }
  return fragments
}
