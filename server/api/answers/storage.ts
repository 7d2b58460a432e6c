// Storage used by recordings.

import type { Storage } from '../../../contract/storage.ts'
import type { RepairProgress } from '../../archive/background-repair.ts'
import { findShareBytes } from '../../archive/retention-plan.ts'
import type { CameraStorage, PlaceStorage, StorageReport } from '../../archive/storage-meter.ts'
import type { CameraLoad } from '../../model/forecast.ts'
import { writeTime } from '../../model/time.ts'

const dayMs = 86_400_000

/** What one user may know; with `isOwner`, also about all other users together. */
export function writeStorage(
  report: StorageReport,
  { userId, isOwner, repair }: { readonly userId: number; readonly isOwner: boolean; readonly repair: RepairProgress },
): Storage {
  const { atMs, limits, forecast } = report
  const own = report.cameras.filter(({ ownerId }) => ownerId === userId)
  const fullMs = Math.min(
    forecast.userFullMs.get(userId) ?? Number.POSITIVE_INFINITY,
    own.length > 0 ? Math.min(forecast.archiveFullMs, forecast.diskFullMs) : Number.POSITIVE_INFINITY,
  )
  return {
    ...writeSums(own),
    max_bytes: limits.users.get(userId) ?? null,
    share_bytes: findShare(report, userId),
    full_at: writeInstant(atMs, fullMs),
    cameras: own.map(writeCamera),
    server: isOwner ? { ...writeServer(report), repair: writeRepair(repair) } : null,
  }
}

function findShare({ here, limits, disk }: StorageReport, userId: number): number | null {
  const used = here.reduce((sum, { bytes }) => sum + bytes, 0)
  const diskBytes = disk && used + disk.freeBytes - disk.floorBytes
  const wholeBytes = Math.min(limits.maxBytes ?? Number.POSITIVE_INFINITY, diskBytes ?? Number.POSITIVE_INFINITY)
  const share = findShareBytes(limits, userId, Math.max(0, wholeBytes))
  return share === undefined || !Number.isFinite(share) ? null : Math.floor(share)
}

/** Null if no file is waiting and none has failed. */
export function writeRepair({ pending, repaired, failed }: RepairProgress) {
  if (pending === 0 && failed === 0) return null
  return { pending_files: pending, repaired_files: repaired, failed_files: failed }
}

export function writePlace({ place, state, detail, bytes, disk, fullMs }: PlaceStorage, atMs: number) {
  return {
    id: place.id,
    folder: place.folder,
    state,
    state_detail: detail ?? null,
    weight: place.weight,
    is_draining: place.isDraining,
    used_bytes: bytes,
    disk_bytes: disk?.totalBytes ?? null,
    disk_free_bytes: disk?.freeBytes ?? null,
    min_free_bytes: disk?.floorBytes ?? null,
    full_at: writeInstant(atMs, fullMs),
  }
}

function writeServer({ atMs, here, limits, forecast, disk, places, doubt }: StorageReport) {
  return {
    ...writeSums(here),
    max_bytes: limits.maxBytes ?? null,
    disk_bytes: disk?.totalBytes ?? null,
    disk_free_bytes: disk?.freeBytes ?? null,
    min_free_bytes: disk?.floorBytes ?? null,
    full_at: writeInstant(atMs, Math.min(forecast.archiveFullMs, forecast.diskFullMs)),
    places: places.map((place) => writePlace(place, atMs)),
    clock_doubt: doubt
      ? {
          ahead_seconds: Math.round(doubt.aheadMs / 1000),
          remaining_seconds: Math.ceil(doubt.remainingMs / 1000),
        }
      : null,
  }
}

function writeCamera(camera: CameraStorage): Storage['cameras'][number] {
  return {
    id: camera.cameraId,
    ...writeSums([camera]),
    max_bytes: camera.maxBytes ?? null,
    recording_start: camera.firstMs === undefined ? null : writeTime(camera.firstMs),
    retention_days: camera.maxAgeMs === undefined ? null : camera.maxAgeMs / dayMs,
    forecast_days: Number.isFinite(camera.reachMs) ? round(camera.reachMs / dayMs) : null,
  }
}

function writeSums(cameras: readonly CameraLoad[]) {
  const sum = (read: (camera: CameraLoad) => number) => cameras.reduce((total, each) => total + read(each), 0)
  return {
    used_bytes: sum(({ bytes }) => bytes),
    bytes_per_day: Math.round(sum(({ bytesPerMs }) => bytesPerMs) * dayMs),
  }
}

/** Null for never, and for dates too far away to be written. */
function writeInstant(atMs: number, inMs: number): string | null {
  return inMs < 200 * 365 * dayMs ? writeTime(atMs + inMs) : null
}

function round(days: number): number {
  return Number(days.toPrecision(3))
}
