// Repairs a segment that was open when the server ended: keeps its complete fragments, cuts off the rest and closes its
// row. The file is shortened and synced before the row is written, and a crash in between repeats both.

import { stat } from 'node:fs/promises'
import type { Segment } from '../model/segment.ts'
import type { FileLocation } from '../model/segment-views.ts'
import type { Places } from '../places/places.ts'
import { type DeletionContext, deleteSegments } from './deletion.ts'
import { FinalSyncs } from './final-syncs.ts'
import { leaseEpochOfPath, startOfPath } from './layout.ts'
import { type SegmentScan, scanSegmentFile } from './segment-scan.ts'
import { copyAside } from './set-aside.ts'

export type RepairReport = {
  /** Segments that were open and have been repaired. */
  segments: number
  /** Those without any complete fragment, which were deleted. */
  removed: number
  /** Files without a row that got one. See adoption.ts. */
  adopted: number
  fragments: number
  cutBytes: number
}

export function createRepairReport(): RepairReport {
  return { segments: 0, removed: 0, adopted: 0, fragments: 0, cutBytes: 0 }
}

/**
 * Adds to `report`. Throws the system's error when the file cannot be read, or is missing together with the whole
 * archive.
 */
export async function repairSegment(
  context: DeletionContext,
  segment: Pick<Segment, 'id' | 'placeId' | 'path' | 'cameraId'>,
  report: RepairReport,
): Promise<void> {
  const { rows, places, log } = context
  const untilMs = await findContinuation(context, segment)
  const scan = await scanIfPresent(places, segment, untilMs)
  if (scan && untilMs !== undefined) await keepRest(context, segment, scan)
  if (!scan || scan.fragments.length === 0) {
    await deleteSegments(context, [segment.id])
    report.segments++
    report.removed++
    return
  }
  if (scan.damage !== undefined)
    log.warn({ path: segment.path, damage: scan.damage }, 'the damaged end of a recording was cut off')
  await cutFile(context, segment, scan)
  await rows.close(segment.id, closedValues(scan))
  report.segments++
  report.fragments += scan.fragments.length
  report.cutBytes += scan.fileBytes - scan.bytes
}

/** Between servers: of the database's time, and that of a file system. See membership.ts. */
const maxClockErrorMs = 1000
/** No file is longer. */
const maxFileMs = 3_600_000

/**
 * From when on another server has recorded the camera of this file, Unix milliseconds: the start of its first file, which may
 * be before that of this one, or, if it has none, when it took the camera. Negative infinity for a file that was created
 * after that. What is in this file from then on is not shown.
 * Undefined if no other server has had the camera since.
 */
export async function findContinuation(
  { rows, places }: Pick<DeletionContext, 'rows' | 'places'>,
  { cameraId, placeId, path }: Pick<Segment, 'cameraId' | 'placeId' | 'path'>,
): Promise<number | undefined> {
  const epoch = leaseEpochOfPath(path)
  if (epoch === undefined) return undefined
  const lease = await rows.findLease(cameraId)
  if (!lease || lease.epoch <= epoch) return undefined
  const startMs = startOfPath(path)
  const files = await rows.listFiles(cameraId, startMs - maxFileMs, startMs + maxFileMs)
  const later = files.filter((file) => (leaseEpochOfPath(file.path) ?? 0) > epoch)
  const continuedMs = later.length > 0 ? Math.min(...later.map((file) => file.startMs)) : lease.takenMs
  // What a camera sent while the server slept came at once, so that its times may be wrong. Not those of the file system.
  const takenMs = lease.epoch === epoch + 1 ? lease.takenMs : continuedMs
  const createdMs = await stat(places.pathOf({ placeId, path })).then(
    ({ birthtimeMs }) => birthtimeMs,
    () => 0,
  )
  return createdMs > takenMs + maxClockErrorMs ? Number.NEGATIVE_INFINITY : continuedMs
}

/** A copy of a file that is to be cut because another server has recorded its end, too, stays for people to look at. */
export async function keepRest(
  { places, log }: DeletionContext,
  file: FileLocation,
  { bytes, fileBytes }: Pick<SegmentScan, 'bytes' | 'fileBytes'>,
): Promise<void> {
  if (bytes === fileBytes) return
  const copy = await copyAside(places, file)
  log.warn(
    { path: file.path, copy },
    'another server had taken the camera while this file was recorded; it ends there now',
  )
}

/** Computes the row of a file from its content. The file must contain a fragment. */
export function closedValues({ bytes, fragments, checksum }: Pick<SegmentScan, 'bytes' | 'fragments' | 'checksum'>) {
  const last = fragments.at(-1)!
  return { endMs: last.startMs + last.durationMs, bytes, fragments, checksum }
}

/** Reads the whole file: after a power loss, a fragment may look complete but contain holes. */
async function scanIfPresent(
  places: Places,
  segment: Pick<Segment, 'placeId' | 'path' | 'cameraId'>,
  untilMs: number | undefined,
): Promise<SegmentScan | undefined> {
  try {
    return await scanSegmentFile(places.pathOf(segment), { isVerified: true, cameraId: segment.cameraId, untilMs })
  } catch (error) {
    // A file on a disk that is not mounted is not lost.
    const isLost = (error as NodeJS.ErrnoException).code === 'ENOENT' && (await places.isPresent(segment.placeId))
    if (isLost) return undefined
    throw error
  }
}

/** Truncates the file after its last complete fragment and syncs it. Throws the system's error. */
export function cutFile(
  { places, syncs = new FinalSyncs() }: Pick<DeletionContext, 'places' | 'syncs'>,
  file: FileLocation,
  scan: Pick<SegmentScan, 'bytes' | 'fileBytes'>,
): Promise<void> {
  return syncs.cut(places.pathOf(file), scan)
}
