// Adopts files without a row. They remain after a crash between creating a file and writing its row, or when the
// database could not be written. Files with footage get a row, and files without any are deleted.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { GapReason } from '../../contract/gap-reasons.ts'
import { AppError } from '../base/error.ts'
import { describeInitSegment, type InitDescription } from '../media/mp4/describe-init.ts'
import type { FileLocation } from '../model/segment-views.ts'
import { beginsWith } from '../places/folder-files.ts'
import type { FootageFile, PlaceFiles } from '../places/place-files.ts'
import { type DeletionContext, ignoreMissing } from './deletion.ts'
import { findCameraOfPath, leaseEpochOfPath, startOfPath } from './layout.ts'
import { listDayFiles, listDays } from './listing.ts'
import { readExactly } from './recording-file.ts'
import { closedValues, cutFile, findContinuation, keepRest } from './repair.ts'
import type { SegmentRows } from './segment-rows.ts'
import { type SegmentScan, scanSegment } from './segment-scan.ts'

/**
 * 'empty': there was no complete fragment, and the file was deleted. 'copy': it held only the beginning of a recording
 * in another place, left by a move that was interrupted, and was deleted. 'unreadable': the file holds no footage of this
 * camera and was left unchanged.
 */
export type Adoption = 'adopted' | 'empty' | 'copy' | 'unreadable'

/**
 * A first fragment that was cut off, or torn by a power loss, is no larger. A larger file is left for a person to look
 * at.
 */
const maxTornBytes = 5 * 1024 * 1024

/** Footage that begins or ends this close to other footage continues it. */
const seamMs = 2000

/**
 * Keeps complete fragments and cuts off the rest. `gapReason`: why nothing was recorded before the file, if its recorder has
 * said so. Throws the system's error.
 */
export async function adoptFile(context: DeletionContext, file: FileLocation, gapReason?: string): Promise<Adoption> {
  const { rows, places } = context
  const { placeId, path } = file
  const files = places.filesOf(placeId)
  const cameraId = findCameraOfPath(path)!
  if (await isLeftCopy(context, file)) {
    await files.remove(path)
    return 'copy'
  }
  const isOnDisk = places.folders.some(({ id }) => id === placeId)
  const untilMs = isOnDisk ? await findContinuation(context, { cameraId, placeId, path }) : undefined
  const scan = await scanFile(files, path, cameraId, untilMs)
  if (untilMs !== undefined) await keepRest(context, file, scan)
  const [first] = scan.fragments
  const description = first && scan.description
  if (!first || !description) {
    const isTooLong = scan.fileBytes > maxTornBytes && untilMs === undefined
    if (isTooLong || scan.foreignCameraId !== undefined) return 'unreadable'
    await files.remove(path)
    return 'empty'
  }
  if (isOnDisk) await cutFile(context, file, scan)
  // Objects are complete files; a damaged one is not changed.
  else if (scan.bytes < scan.fileBytes) return 'unreadable'
  const opened = {
    cameraId,
    // The file becomes a run of its own: only the lost row knew its position in its run.
    runId: `found ${path}`,
    runStart90k: 0,
    placeId,
    path,
    startMs: first.startMs,
    initBytes: scan.initBytes,
    initHash: scan.initHash!,
    ...description,
    gapReason: gapReason ?? (await findTakeover(rows, { cameraId, path })),
  }
  const values = closedValues(scan)
  // First, because a file that has a row is not looked at again if this fails.
  await correctNextGap(rows, { cameraId, path, endMs: values.endMs })
  const id = await rows.insertOpen(opened, await chooseEpoch(rows, cameraId, values.endMs, first.startMs))
  await rows.close(id, values)
  return 'adopted'
}

/** What the state of a camera may be. */
const reasonsOfCamera: readonly GapReason[] = ['camera_unreachable', 'auth_failed', 'no_frames', 'packet_loss']
/** Another server takes a camera within 15 s, and the next key frame may be as far away. */
const takeoverMs = 30_000

/**
 * A server that takes a camera tells of it what the one before it could write. If that one was cut off from the database, it
 * could not write that the camera was back and recorded: the gap after this file is that of the server, not of the camera.
 */
async function correctNextGap(
  rows: SegmentRows,
  { cameraId, path, endMs }: { readonly cameraId: number; readonly path: string; readonly endMs: number },
): Promise<void> {
  const epoch = leaseEpochOfPath(path)
  if (epoch === undefined) return
  const files = await rows.listFiles(cameraId, endMs, endMs + takeoverMs)
  const next = files.toSorted((x, y) => x.startMs - y.startMs)[0]
  if (next && (leaseEpochOfPath(next.path) ?? 0) > epoch)
    await rows.correctGapReason(next.id, reasonsOfCamera, 'node_lost')
}

/** 'node_lost' if the file before this one was recorded before the camera changed hands. */
async function findTakeover(
  rows: DeletionContext['rows'],
  { cameraId, path }: { readonly cameraId: number; readonly path: string },
): Promise<GapReason | undefined> {
  const epoch = leaseEpochOfPath(path)
  const startMs = startOfPath(path)
  const files = await rows.listFiles(cameraId, startMs - hourMs, startMs)
  const before = files.toSorted((x, y) => x.startMs - y.startMs).at(-1)
  const epochBefore = before && leaseEpochOfPath(before.path)
  return epochBefore === undefined || epochBefore === epoch ? undefined : 'node_lost'
}

async function isLeftCopy({ rows, places }: DeletionContext, { placeId, path }: FileLocation): Promise<boolean> {
  const startMs = startOfPath(path)
  for (const other of await rows.listFiles(findCameraOfPath(path)!, startMs - seamMs, startMs + seamMs)) {
    // In a folder of another server, nothing is moved by this one.
    const isHere = places.all.some(({ id }) => id === other.placeId)
    if (other.placeId === placeId || !isHere) continue
    await using source = await places.filesOf(other.placeId).open(other.path).catch(ignoreLost)
    if (!source) continue
    await using copy = await places.filesOf(placeId).open(path)
    if (await beginsWith(source, copy)) return true
  }
  return false
}

function ignoreLost(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error
}

/**
 * Finds the clock epoch of a file where the clock was set back: the epoch whose footage the file continues, the first
 * one if there are several. Returns undefined for the latest epoch, or if none is known.
 */
async function chooseEpoch(rows: DeletionContext['rows'], cameraId: number, endMs: number, startMs: number) {
  const last = await rows.findLast(cameraId)
  if (!last || last.epoch === 0) return undefined
  const near = await rows.listSpans(cameraId, startMs - seamMs, endMs + seamMs)
  for (const [epoch, spans] of Map.groupBy(near, (span) => span.epoch ?? 0)) {
    const isFree = spans.every((span) => span.endMs <= startMs + seamMs || span.startMs >= endMs - seamMs)
    if (isFree) return epoch === last.epoch ? undefined : epoch
  }
  return undefined
}

export type KnownCamera = {
  readonly id: number
  /** Older files belong to another camera, which had this id in another database. */
  readonly createdAtMs: number
}

const hourMs = 3_600_000

/**
 * The earliest start, in Unix milliseconds, of files without a row that a crash left behind. This is usually the start
 * of the newest row. A server that crashed soon after its start had not yet searched for the files of the previous
 * crash, hence the row before the open ones.
 */
export async function findUnknownFrom(
  rows: SegmentRows,
  { id, createdAtMs }: KnownCamera,
  oldestOpenMs: number | undefined,
): Promise<number> {
  if (oldestOpenMs === undefined) return Math.max((await rows.findNewest(id))?.startMs ?? 0, createdAtMs)
  const before = await rows.listSpans(id, oldestOpenMs - hourMs, oldestOpenMs)
  return Math.max(before.findLast(({ startMs }) => startMs < oldestOpenMs)?.startMs ?? oldestOpenMs, createdAtMs)
}

/**
 * The earliest start of a file without a row among the newest ones in the folder of this server: other servers have recorded
 * the camera since, so their rows say nothing about it. A server that ended before it had searched may have recorded
 * newer files. Undefined if there is none.
 */
export async function findUnknownSince(
  { rows, places }: DeletionContext,
  { cameraId, placeId }: { readonly cameraId: number; readonly placeId: number },
): Promise<number | undefined> {
  const files = places.filesOf(placeId)
  let firstMs: number | undefined
  let knownInARow = 0
  for (const day of (await listDays(files, cameraId)).toReversed()) {
    const paths = (await listDayFiles(files, cameraId, day.name)).toReversed()
    for (let i = 0; i < paths.length; i += filesAtOnce) {
      const some = paths.slice(i, i + filesAtOnce)
      // A row may begin with a later fragment than its file.
      const endMs = startOfPath(some[0]!) + hourMs
      const known = new Set((await rows.listFiles(cameraId, startOfPath(some.at(-1)!), endMs)).map(({ path }) => path))
      for (const path of some) {
        if (known.has(path)) {
          if (++knownInARow === filesAtOnce) return firstMs
          continue
        }
        knownInARow = 0
        firstMs = startOfPath(path)
      }
    }
  }
  return firstMs
}

/** Before so many with rows, one after the other, nothing is missing. */
const filesAtOnce = 60

/**
 * Lists files of a camera in a place that begin at `fromMs` or later and have no row, with their modification times. Rows are
 * written in the order of files, so a crash leaves only such files. `check --fix` finds all others. Only the folders of
 * the newest days are listed.
 */
export async function listUnknownFiles(
  { rows, places }: DeletionContext,
  { cameraId, placeId, fromMs }: { readonly cameraId: number; readonly placeId: number; readonly fromMs: number },
): Promise<(FileLocation & { readonly changedMs: number })[]> {
  const unknown: (FileLocation & { changedMs: number })[] = []
  const folder = places.folderOf(placeId)
  const placeFiles = places.filesOf(placeId)
  for (const day of await listDays(placeFiles, cameraId)) {
    if (day.endMs <= fromMs) continue
    const paths = await listDayFiles(placeFiles, cameraId, day.name)
    // List rows after files, so that a file that got its row in between counts as known.
    const files = await rows.listFiles(cameraId, day.startMs, day.endMs)
    const known = new Set(files.filter((file) => file.placeId === placeId).map(({ path }) => path))
    for (const path of paths) {
      if (known.has(path) || startOfPath(path) < fromMs) continue
      // Meanwhile, it may have been moved or deleted.
      const found = await stat(join(folder, path)).catch(ignoreMissing)
      if (found) unknown.push({ placeId, path, changedMs: found.mtimeMs })
    }
  }
  return unknown
}

async function scanFile(
  files: PlaceFiles,
  path: string,
  cameraId: number,
  untilMs: number | undefined,
): Promise<SegmentScan & { readonly description: InitDescription | undefined }> {
  await using file = await files.open(path)
  const scan = await scanSegment(file, { isVerified: true, cameraId, untilMs })
  return { ...scan, description: scan.fragments.length > 0 ? await describeFile(file, scan) : undefined }
}

/** Undefined if the initialization section does not contain it. */
async function describeFile(file: FootageFile, { initBytes }: SegmentScan): Promise<InitDescription | undefined> {
  try {
    return describeInitSegment(await readExactly(file, 0, initBytes))
  } catch (error) {
    if (error instanceof AppError && error.kind === 'corrupt') return undefined
    throw error
  }
}
