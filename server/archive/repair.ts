// Repairs a segment that was open when the server ended: keeps its complete fragments, cuts off the rest and closes its
// row. The file is shortened and synced before the row is written, and a crash in between repeats both.

import type { Segment } from '../model/segment.ts'
import type { FileLocation } from '../model/segment-views.ts'
import type { Places } from '../places/places.ts'
import { type DeletionContext, deleteSegments } from './deletion.ts'
import { FinalSyncs } from './final-syncs.ts'
import { type SegmentScan, scanSegmentFile } from './segment-scan.ts'

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
  const scan = await scanIfPresent(places, segment)
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

/** Computes the row of a file from its content. The file must contain a fragment. */
export function closedValues({ bytes, fragments, checksum }: Pick<SegmentScan, 'bytes' | 'fragments' | 'checksum'>) {
  const last = fragments.at(-1)!
  return { endMs: last.startMs + last.durationMs, bytes, fragments, checksum }
}

/** Reads the whole file: after a power loss, a fragment may look complete but contain holes. */
async function scanIfPresent(
  places: Places,
  segment: Pick<Segment, 'placeId' | 'path' | 'cameraId'>,
): Promise<SegmentScan | undefined> {
  try {
    return await scanSegmentFile(places.pathOf(segment), { isVerified: true, cameraId: segment.cameraId })
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
