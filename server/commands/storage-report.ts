// How much space recordings take, and how long the space will last, as text and as JSON.

import type { ClockDoubt } from '../archive/deletion-clock.ts'
import type { CameraStorage, StorageReport } from '../archive/storage-meter.ts'
import { writeByteSize } from '../model/byte-size.ts'
import { writeTime } from '../model/time.ts'
import { writeTable } from './table.ts'

export type Names = { readonly cameras: ReadonlyMap<number, string>; readonly users: ReadonlyMap<number, string> }

const dayMs = 86_400_000

export function describeStorage(report: StorageReport, names: Names): string {
  const { cameras, here, limits, forecast, disk, doubt, atMs } = report
  const titles = ['ID', 'CAMERA', 'USED', 'PER DAY', 'OLDEST', 'KEPT', 'WILL REACH BACK']
  const rows = cameras.map((camera) => [
    String(camera.cameraId),
    names.cameras.get(camera.cameraId) ?? '(removed)',
    writeByteSize(camera.bytes),
    camera.bytesPerMs > 0 ? writeByteSize(camera.bytesPerMs * dayMs) : '',
    camera.firstMs === undefined ? '' : writeTime(camera.firstMs),
    describeLimits(camera),
    describeDays(camera.reachMs),
  ])
  const used = here.reduce((sum, { bytes }) => sum + bytes, 0)
  const lines = [writeTable(titles, rows, 'There are no recordings.')]
  for (const [userId, maxBytes] of limits.users) {
    const share = `${writeByteSize(sumOfUser(report, userId))} of ${writeByteSize(maxBytes)}`
    lines.push(`${names.users.get(userId)}: ${share}${describeFull(atMs, forecast.userFullMs.get(userId))}`)
  }
  if (limits.maxBytes !== undefined) {
    const share = `${writeByteSize(used)} of ${writeByteSize(limits.maxBytes)}`
    lines.push(`All recordings: ${share}${describeFull(atMs, forecast.archiveFullMs)}`)
  } else lines.push(`All recordings: ${writeByteSize(used)}`)
  if (disk) {
    const free = `${writeByteSize(disk.freeBytes)} of ${writeByteSize(disk.totalBytes)} free`
    const kept = `${writeByteSize(disk.floorBytes)} stay free`
    lines.push(`Disk: ${free}, ${kept}${describeFull(atMs, forecast.diskFullMs)}`)
  } else lines.push('Disk: not known, the folder of the recordings is missing or does not answer')
  return [...lines, ...describeDoubt(doubt)].join('\n')
}

/** Prints no line while the clock is trusted. */
export function describeDoubt(doubt: ClockDoubt | undefined): string[] {
  if (!doubt) return []
  const ahead = `Clock: moved forward by ${describeDays(doubt.aheadMs)}: the server was off, or the clock was set.`
  const wait = `Footage that is too old only because of this is kept for another ${describeDays(doubt.remainingMs)}.`
  return [`${ahead} ${wait}`]
}

export function writeDoubt(doubt: ClockDoubt | undefined) {
  if (!doubt) return null
  const { aheadMs, remainingMs } = doubt
  return { ahead_seconds: Math.round(aheadMs / 1000), remaining_seconds: Math.ceil(remainingMs / 1000) }
}

function sumOfUser({ cameras }: StorageReport, userId: number): number {
  return cameras.filter(({ ownerId }) => ownerId === userId).reduce((sum, { bytes }) => sum + bytes, 0)
}

function describeLimits({ maxAgeMs, maxBytes }: CameraStorage): string {
  const limits = [
    ...(maxAgeMs === undefined ? [] : [describeDays(maxAgeMs)]),
    ...(maxBytes === undefined ? [] : [writeByteSize(maxBytes)]),
  ]
  return limits.join(', ')
}

function describeDays(ms: number): string {
  if (!Number.isFinite(ms)) return ''
  const hours = ms / 3_600_000
  const round = (value: number) => Number(value.toPrecision(3))
  if (hours < 2) return `${round(hours * 60)} minutes`
  return hours < 48 ? `${round(hours)} hours` : `${round(hours / 24)} days`
}

function describeFull(atMs: number, inMs: number | undefined): string {
  if (inMs === undefined || inMs > 200 * 365 * dayMs) return ''
  return inMs === 0 ? ', full: the oldest go' : `, full on ${writeTime(atMs + inMs)}`
}

export function writeStorageReport(report: StorageReport) {
  const { atMs, cameras, here, limits, forecast, disk, doubt } = report
  const write = (inMs: number) => (inMs > 200 * 365 * dayMs ? null : writeTime(atMs + inMs))
  return {
    used_bytes: here.reduce((sum, { bytes }) => sum + bytes, 0),
    max_bytes: limits.maxBytes ?? null,
    full_at: write(Math.min(forecast.archiveFullMs, forecast.diskFullMs)),
    disk_bytes: disk?.totalBytes ?? null,
    disk_free_bytes: disk?.freeBytes ?? null,
    min_free_bytes: disk?.floorBytes ?? null,
    clock_doubt: writeDoubt(doubt),
    users: [...limits.users].map(([id, maxBytes]) => ({
      id,
      used_bytes: sumOfUser(report, id),
      max_bytes: maxBytes,
      full_at: write(forecast.userFullMs.get(id)!),
    })),
    cameras: cameras.map(({ cameraId, bytes, bytesPerMs, firstMs, maxAgeMs, maxBytes, reachMs }) => ({
      id: cameraId,
      used_bytes: bytes,
      bytes_per_day: Math.round(bytesPerMs * dayMs),
      recording_start: firstMs === undefined ? null : writeTime(firstMs),
      retention_days: maxAgeMs === undefined ? null : maxAgeMs / dayMs,
      max_bytes: maxBytes ?? null,
      forecast_days: Number.isFinite(reachMs) ? reachMs / dayMs : null,
    })),
  }
}
