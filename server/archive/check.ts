// Compares the index with the files in both directions, one day of a camera at a time. It only reads, and is safe
// alongside a running server, whose retention and recorders change both meanwhile: possible changes in progress are
// checked again or skipped.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import type { SegmentFile } from '../model/segment-views.ts'
import { archiveExists } from './archive-folder.ts'
import { findDamage } from './damage.ts'
import { type Day, dayOf, listCameraFolders, listDayFiles, listDays } from './listing.ts'
import type { SegmentRows } from './segment-rows.ts'

export type CheckOptions = {
  readonly rows: SegmentRows
  readonly archiveDir: string
  readonly clock: Clock
  /** Also reads all files, and compares their boxes and checksums with the index. */
  readonly isDeep?: boolean
  readonly signal?: AbortSignal
}

export type FaultySegment = { readonly id: number; readonly path: string }

export type CheckReport = {
  segments: number
  files: number
  bytes: number
  /**
   * There should be footage, but the folder is not the archive, perhaps an empty mount point. See archive-folder.ts.
   */
  isArchiveMissing: boolean
  /** In the index, but not on the disk. Here and below, paths are relative to the archive's folder. */
  missingFiles: FaultySegment[]
  /** On the disk, but not in the index. */
  orphanFiles: string[]
  sizeMismatches: (FaultySegment & { readonly indexBytes: number; readonly fileBytes: number })[]
  /** Files that differ from what was recorded. Only a deep check finds them. */
  damagedFiles: (FaultySegment & { readonly detail: string })[]
  /** Cameras whose byte counters differ from their rows. */
  wrongCounters: number[]
}

/** True if nothing is wrong. */
export function isClean(report: CheckReport): boolean {
  return !report.isArchiveMissing && countFaults(report) === 0
}

export function countFaults(report: CheckReport): number {
  const { missingFiles, orphanFiles, sizeMismatches, damagedFiles, wrongCounters } = report
  return [missingFiles, orphanFiles, sizeMismatches, damagedFiles, wrongCounters].reduce(
    (sum, { length }) => sum + length,
    0,
  )
}

/** The row of a file younger than this may not be written yet. */
const settlingMs = 10_000

/** Throws the database's and the system's errors, and `signal.reason`. */
export async function checkArchive(options: CheckOptions): Promise<CheckReport> {
  const { rows, archiveDir } = options
  const report: CheckReport = {
    segments: 0,
    files: 0,
    bytes: 0,
    isArchiveMissing: false,
    missingFiles: [],
    orphanFiles: [],
    sizeMismatches: [],
    damagedFiles: [],
    wrongCounters: [],
  }
  for (const cameraId of await listCameras(options)) {
    for await (const day of listCameraDays(options, cameraId)) {
      options.signal?.throwIfAborted()
      await checkDay(options, cameraId, day, report)
    }
    if (await hasWrongCounter(rows, cameraId)) report.wrongCounters.push(cameraId)
  }
  report.isArchiveMissing = report.segments > 0 && !(await archiveExists(archiveDir))
  return report
}

/** Paths in the index, on the disk, or both. */
export async function listCameras({ rows, archiveDir }: Pick<CheckOptions, 'rows' | 'archiveDir'>): Promise<number[]> {
  const usage = await rows.listUsage()
  const ids = [...(await rows.listCameraIds()), ...usage.map(({ cameraId }) => cameraId)]
  return [...new Set([...ids, ...(await listCameraFolders(archiveDir))])].sort((a, b) => a - b)
}

/** Days that have files or rows, oldest first. */
export async function* listCameraDays(
  { rows, archiveDir }: Pick<CheckOptions, 'rows' | 'archiveDir'>,
  cameraId: number,
): AsyncGenerator<Day> {
  const onDisk = await listDays(archiveDir, cameraId)
  for (let fromMs = Number.MIN_SAFE_INTEGER; ; ) {
    const next = await rows.findNext(cameraId, fromMs)
    const candidates = [next && dayOf(next.startMs), onDisk.find(({ startMs }) => startMs >= fromMs)]
    const [day] = candidates.filter((each) => each !== undefined).sort((a, b) => a.startMs - b.startMs)
    if (!day) return
    yield day
    fromMs = day.endMs
  }
}

async function checkDay(options: CheckOptions, cameraId: number, day: Day, report: CheckReport): Promise<void> {
  const { rows, archiveDir, clock } = options
  // Read the folder first: a file created meanwhile is in neither list, and one whose row is written meanwhile is in
  // both.
  const unknown = new Set(await listDayFiles(archiveDir, cameraId, day.name))
  report.files += unknown.size
  for (const segment of await rows.listFiles(cameraId, day.startMs, day.endMs)) {
    report.segments++
    unknown.delete(segment.path)
    await checkSegment(options, segment, report)
  }
  if (unknown.size === 0) return
  for (const { path } of await rows.listPendingDeletions(Number.MAX_SAFE_INTEGER)) unknown.delete(path)
  for (const path of unknown) {
    const found = await statIfPresent(join(archiveDir, path))
    if (found && found.birthtimeMs < clock.nowMs() - settlingMs) report.orphanFiles.push(path)
  }
}

async function checkSegment(options: CheckOptions, segment: SegmentFile, report: CheckReport): Promise<void> {
  const { rows, archiveDir, isDeep } = options
  const { id, path } = segment
  const file = await statIfPresent(join(archiveDir, path))
  if (!file) {
    // Retention may have deleted it during this check.
    if (await rows.find(id)) report.missingFiles.push({ id, path })
    return
  }
  report.bytes += file.size
  if (!segment.isClosed) return
  if (file.size !== segment.bytes) {
    report.sizeMismatches.push({ id, path, indexBytes: segment.bytes, fileBytes: file.size })
  } else if (isDeep) {
    const whole = await rows.find(id)
    const detail = whole && (await findDamage(join(archiveDir, path), whole))
    if (detail !== undefined) report.damagedFiles.push({ id, path, detail })
  }
}

/** Both are read again when they differ, because a segment may have been closed in between. */
async function hasWrongCounter(rows: SegmentRows, cameraId: number): Promise<boolean> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const counted = (await rows.listUsage()).find((usage) => usage.cameraId === cameraId)
    const { bytes, segments } = await rows.sumUsage(cameraId)
    if ((counted?.bytes ?? 0) === bytes && (counted?.segments ?? 0) === segments) return false
  }
  return true
}

async function statIfPresent(path: string) {
  try {
    return await stat(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
