// Makes index and file agree on a closed segment whose file differs from what was recorded. Intact parts stay footage,
// in separate files where something between them is missing. The original file is set aside.

import { type FileHandle, open, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../base/error.ts'
import { syncFolder } from '../base/sync-folder.ts'
import { type ChecksumBox, writeChecksumBox } from '../media/mp4/checksum-box.ts'
import { shiftDecodeTimes } from '../media/mp4/fragment-head.ts'
import { parseTimescales, scaleTicks } from '../media/mp4/timescale.ts'
import type { Segment } from '../model/segment.ts'
import { type DeletionContext, deleteSegments } from './deletion.ts'
import type { FoundFragment } from './fragment-scan.ts'
import { findIntactParts } from './intact-parts.ts'
import { alternativePath, segmentPath } from './layout.ts'
import { closedValues, cutFile } from './repair.ts'
import { fragmentChecksum, hashInit } from './segment-checksum.ts'
import { scanSegmentFile, sumChecksums, toFragments } from './segment-scan.ts'
import { copyAside, setAside } from './set-aside.ts'

export type Reconciliation = {
  readonly action: 'cut' | 'split' | 'set_aside'
  /** A text for people. */
  readonly detail: string
}

type Part = readonly FoundFragment[]

/** Throws the system's and the database's errors. Then nothing has changed, or it can be repeated. */
export async function reconcileSegment(context: DeletionContext, segment: Segment): Promise<Reconciliation> {
  const { places } = context
  const { init, parts, isForeign, fileBytes } = await findIntactParts(places.pathOf(segment), segment)
  const usedInit = isForeign || parts.length === 0 ? undefined : (init ?? (await findSameInit(context, segment)))
  if (!usedInit) {
    const place = await setAside(places, segment)
    await deleteSegments(context, [segment.id])
    return { action: 'set_aside', detail: `${isForeign ? 'other footage' : 'nothing intact'}, now ${place}` }
  }
  const [first, ...others] = parts as [Part, ...Part[]]
  const isHeadIntact = init !== undefined && first[0]?.offset === segment.initBytes
  if (isHeadIntact && others.length === 0) return cutAfter(context, segment, first, fileBytes)

  for (const part of isHeadIntact ? others : parts) await writePart(context, segment, usedInit, part)
  const place = await (isHeadIntact ? copyAside : setAside)(places, segment)
  if (isHeadIntact) await cutTo(context, segment, first, fileBytes)
  else await deleteSegments(context, [segment.id])
  const kept = parts.reduce((sum, part) => sum + part.length, 0)
  return { action: 'split', detail: `${kept} of ${segment.fragments.length} fragments kept, as it was: ${place}` }
}

/** The bytes after the part are not our footage, or are damaged. */
async function cutAfter(
  context: DeletionContext,
  segment: Segment,
  part: Part,
  fileBytes: number,
): Promise<Reconciliation> {
  const isLoss = part.length < segment.fragments.length && fileBytes > endOf(part)
  const place = isLoss ? `, as it was: ${await copyAside(context.places, segment)}` : ''
  await cutTo(context, segment, part, fileBytes)
  return { action: 'cut', detail: `${fileBytes} to ${endOf(part)} bytes, ${part.length} fragments${place}` }
}

/** Changes the file, then the row. */
async function cutTo(context: DeletionContext, segment: Segment, part: Part, fileBytes: number) {
  const bytes = endOf(part)
  await cutFile(context, segment, { bytes, fileBytes })
  await context.rows.close(
    segment.id,
    closedValues({ bytes, fragments: toFragments(part), checksum: sumChecksums(part) }),
  )
}

function endOf(part: Part): number {
  const last = part.at(-1)!
  return last.offset + last.bytes
}

/** Writes a file of its own, whose times begin at 0 like in all files. Order: file, sync, row. */
async function writePart(context: DeletionContext, segment: Segment, init: Uint8Array, part: Part): Promise<void> {
  const { rows, places } = context
  const { placeId } = segment
  const archiveDir = places.folderOf(placeId)
  const [first] = part as [FoundFragment]
  const startMs = first.startMs ?? segment.startMs
  const runStart90k = segment.runStart90k + first.start90k
  const timescales = parseTimescales(init)
  const shiftOf = (trackId: number) => {
    const timescale = timescales.get(trackId) ?? 90_000
    return scaleTicks(segment.runStart90k, timescale) - scaleTicks(runStart90k, timescale)
  }
  const path = await createFile(archiveDir, segmentPath(segment.cameraId, startMs), async (target) => {
    await using source = await open(places.pathOf(segment), 'r')
    await target.write(init)
    for (const fragment of part) await copyFragment(source, target, { fragment, shiftOf, cameraId: segment.cameraId })
  })
  const scan = await scanSegmentFile(join(archiveDir, path))
  const { cameraId, runId, initBytes, initHash, codecs, width, height } = segment
  const stream = { cameraId, runId, initBytes, initHash, codecs, width, height }
  const gapReason = first.offset === initBytes ? segment.gapReason : 'damaged'
  await rows.close(
    await rows.insertOpen({ ...stream, placeId, path, startMs, runStart90k, gapReason }),
    closedValues(scan),
  )
}

type Moved = Pick<ChecksumBox, 'cameraId'> & {
  readonly fragment: FoundFragment
  readonly shiftOf: (trackId: number) => number
}

async function copyFragment(
  source: FileHandle,
  target: FileHandle,
  { fragment, shiftOf, cameraId }: Moved,
): Promise<void> {
  const { contentOffset, offset, bytes } = fragment
  const content = new Uint8Array(offset + bytes - contentOffset)
  const { bytesRead } = await source.read(content, 0, content.length, contentOffset)
  if (bytesRead < content.length) throw new AppError('corrupt', `expected a whole fragment at byte ${offset}`)
  shiftDecodeTimes(content, shiftOf)
  const seal = writeChecksumBox({ checksum: fragmentChecksum([content]), cameraId })
  const { bytesWritten } = await target.writev([seal, content])
  if (bytesWritten < seal.length + content.length) throw new AppError('unavailable', 'the disk is full')
}

/** Writes a file and syncs it. Returns its name relative to the folder of the place. */
async function createFile(folder: string, wanted: string, write: (file: FileHandle) => Promise<void>): Promise<string> {
  const { path, file } = await openNew(folder, wanted)
  try {
    await write(file)
    await file.datasync()
    await syncFolder(dirname(join(folder, path)))
    return path
  } catch (error) {
    // Also after a failed sync: the next attempt creates another file.
    await unlink(join(folder, path))
    throw error
  } finally {
    await file.close()
  }
}

async function openNew(folder: string, wanted: string): Promise<{ path: string; file: FileHandle }> {
  for (let attempt = 0; ; attempt++) {
    const path = attempt === 0 ? wanted : alternativePath(wanted, attempt)
    try {
      return { path, file: await open(join(folder, path), 'wx', 0o640) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

const neighbourMs = 86_400_000

/** Finds the same initialization section in another file of the camera. */
async function findSameInit({ rows, places }: DeletionContext, segment: Segment): Promise<Uint8Array | undefined> {
  const { cameraId, startMs, initHash, initBytes } = segment
  const neighbours = await rows.listBetween(cameraId, startMs - neighbourMs, startMs + neighbourMs)
  for (const other of neighbours) {
    if (other.id === segment.id || other.initHash !== initHash) continue
    const init = await readHead(places.pathOf(other), initBytes)
    if (init && hashInit(init) === initHash) return init
  }
  return undefined
}

async function readHead(path: string, bytes: number): Promise<Uint8Array | undefined> {
  try {
    await using file = await open(path, 'r')
    const { buffer, bytesRead } = await file.read(new Uint8Array(bytes), 0, bytes, 0)
    return bytesRead === bytes ? buffer : undefined
  } catch {
    return undefined // this file does not help, but another may
  }
}
