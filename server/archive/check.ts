// Compares the index with the files in both directions, one day of a camera at a time. It only reads, and is safe
// alongside a running server, whose retention and recorders change both meanwhile: possible changes in progress are
// checked again or skipped.

import { stat } from 'node:fs/promises'
import type { Clock } from '../base/clock.ts'
import type { Place } from '../model/place.ts'
import type { FileLocation, FootageUsage, SegmentFile, SegmentLocation } from '../model/segment-views.ts'
import { Places } from '../places/places.ts'
import { findDamage } from './damage.ts'
import { type Day, dayOf, listCameraFolders, listDayFiles, listDays } from './listing.ts'
import type { SegmentRows } from './segment-rows.ts'

export type CheckOptions = {
  readonly rows: SegmentRows
  readonly places: Places
  readonly clock: Clock
  /** Also reads all files, and compares their boxes and checksums with the index. */
  readonly isDeep?: boolean
  readonly signal?: AbortSignal
}

export type CheckReport = {
  segments: number
  files: number
  bytes: number
  /**
   * There should be footage in these, but the folder is not the place, perhaps an empty mount point (see
   * place-folder.ts), or the store of the bucket is away. What is in such a bucket is not checked.
   */
  missingPlaces: Place[]
  /** In the index, but not on the disk. Here and below, paths are relative to the folder of the place. */
  missingFiles: SegmentLocation[]
  /** On the disk, but not in the index. */
  orphanFiles: FileLocation[]
  sizeMismatches: (SegmentLocation & { readonly indexBytes: number; readonly fileBytes: number })[]
  /** Files that differ from what was recorded. Only a deep check finds them. */
  damagedFiles: (SegmentLocation & { readonly detail: string })[]
  /** Cameras whose byte counters differ from their rows. */
  wrongCounters: number[]
}

/** True if nothing is wrong. */
export function isClean(report: CheckReport): boolean {
  return report.missingPlaces.length === 0 && countFaults(report) === 0
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
export async function checkArchive(given: CheckOptions): Promise<CheckReport> {
  const { rows, places } = given
  const away: Place[] = []
  for (const bucket of places.buckets) if (!(await places.isPresent(bucket.id))) away.push(bucket)
  const options = { ...given, places: new Places(places.all.filter((place) => !away.includes(place))) }
  const report: CheckReport = {
    segments: 0,
    files: 0,
    bytes: 0,
    missingPlaces: [],
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
  const used = new Set((await rows.listUsage()).map(({ placeId }) => placeId))
  for (const { placeId } of report.missingFiles) used.add(placeId)
  for (const place of places.all)
    if (used.has(place.id) && !(await places.isPresent(place.id))) report.missingPlaces.push(place)
  return report
}

/** Paths in the index, on the disk, or both. */
export async function listCameras({ rows, places }: Pick<CheckOptions, 'rows' | 'places'>): Promise<number[]> {
  const usage = await rows.listUsage()
  const ids = [...(await rows.listCameraIds()), ...usage.map(({ cameraId }) => cameraId)]
  for (const { id } of places.all) ids.push(...(await listCameraFolders(places.filesOf(id))))
  return [...new Set(ids)].sort((a, b) => a - b)
}

/** Days that have files or rows, oldest first. */
export async function* listCameraDays(
  { rows, places }: Pick<CheckOptions, 'rows' | 'places'>,
  cameraId: number,
): AsyncGenerator<Day> {
  const onDisk = (await Promise.all(places.all.map(({ id }) => listDays(places.filesOf(id), cameraId))))
    .flat()
    .sort((a, b) => a.startMs - b.startMs)
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
  const { rows, places, clock } = options
  // Read the folders first: a file created meanwhile is in neither list, and one whose row is written meanwhile is in
  // both.
  const unknown = new Map<string, FileLocation>()
  for (const { id: placeId } of places.all) {
    for (const path of await listDayFiles(places.filesOf(placeId), cameraId, day.name))
      unknown.set(keyOf({ placeId, path }), { placeId, path })
  }
  report.files += unknown.size
  for (const segment of await rows.listFiles(cameraId, day.startMs, day.endMs)) {
    report.segments++
    unknown.delete(keyOf(segment))
    await checkSegment(options, segment, report)
  }
  if (unknown.size === 0) return
  for (const pending of await rows.listPendingDeletions(Number.MAX_SAFE_INTEGER)) unknown.delete(keyOf(pending))
  for (const copy of await rows.listCopies()) unknown.delete(keyOf(copy))
  // A copy or a new file may have got its row meanwhile.
  if (unknown.size > 0)
    for (const segment of await rows.listFiles(cameraId, day.startMs, day.endMs)) unknown.delete(keyOf(segment))
  for (const file of unknown.values()) {
    if (places.buckets.some(({ id }) => id === file.placeId)) {
      report.orphanFiles.push(file)
      continue
    }
    const found = await statIfPresent(places.pathOf(file))
    if (found && found.birthtimeMs < clock.nowMs() - settlingMs) report.orphanFiles.push(file)
  }
}

function keyOf({ placeId, path }: FileLocation): string {
  return `${placeId} ${path}`
}

async function checkSegment(options: CheckOptions, segment: SegmentFile, report: CheckReport): Promise<void> {
  const { rows, places, isDeep } = options
  const { id, placeId, path } = segment
  if (!places.all.some((place) => place.id === placeId)) return
  const fileBytes = await places.filesOf(placeId).size(path)
  if (fileBytes === undefined) {
    // It may have been deleted or moved during this check.
    const now = await rows.find(id)
    if (now && keyOf(now) === keyOf(segment)) report.missingFiles.push({ id, placeId, path })
    return
  }
  report.bytes += fileBytes
  if (!segment.isClosed) return
  if (fileBytes !== segment.bytes) {
    report.sizeMismatches.push({ id, placeId, path, indexBytes: segment.bytes, fileBytes })
  } else if (isDeep) {
    const whole = await rows.find(id)
    const detail = whole && (await findDamage(places, whole))
    if (detail !== undefined) report.damagedFiles.push({ id, placeId, path, detail })
  }
}

/** Both are read again when they differ, because a segment may have been closed in between. */
async function hasWrongCounter(rows: SegmentRows, cameraId: number): Promise<boolean> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const counted = (await rows.listUsage()).filter((usage) => usage.cameraId === cameraId)
    if (writeUsage(counted) === writeUsage(await rows.sumUsage(cameraId))) return false
  }
  return true
}

function writeUsage(usage: readonly FootageUsage[]): string {
  return usage.map(({ placeId, bytes, segments }) => `${placeId} ${bytes} ${segments}`).join()
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
