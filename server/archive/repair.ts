// Makes a segment whole that was open when the server ended: keeps its whole fragments, cuts off the rest, closes its row.
// Order: file shortened and synced, then the row; a crash in between does it again.

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Segment } from '../model/segment.ts'
import { type DeletionContext, deleteSegments } from './deletion.ts'
import { type SegmentScan, scanSegmentFile } from './segment-scan.ts'

export type RepairReport = {
  /** Segments found open. */
  segments: number
  /** Of these, without any whole fragment: removed. */
  removed: number
  fragments: number
  cutBytes: number
}

export function createRepairReport(): RepairReport {
  return { segments: 0, removed: 0, fragments: 0, cutBytes: 0 }
}

/** Adds to `report`. Throws the system's error when the file can neither be read nor is missing. */
export async function repairSegment(context: DeletionContext, segment: Segment, report: RepairReport): Promise<void> {
  const { rows, archiveDir, log } = context
  const path = join(archiveDir, segment.path)
  const scan = await scanIfPresent(path)
  report.segments++
  const last = scan?.fragments.at(-1)
  if (!scan || !last) {
    report.removed++
    await deleteSegments(context, [segment])
    return
  }
  if (scan.damage !== undefined)
    log.warn({ path: segment.path, damage: scan.damage }, 'damaged end of a recording cut off')
  await shorten(path, scan)
  await rows.close(segment.id, {
    endMs: last.startMs + last.durationMs,
    bytes: scan.bytes,
    fragments: scan.fragments,
  })
  report.fragments += scan.fragments.length
  report.cutBytes += scan.fileBytes - scan.bytes
}

async function scanIfPresent(path: string): Promise<SegmentScan | undefined> {
  try {
    return await scanSegmentFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function shorten(path: string, { bytes, fileBytes }: SegmentScan): Promise<void> {
  await using file = await open(path, 'r+')
  if (bytes < fileBytes) await file.truncate(bytes)
  await file.datasync()
}
