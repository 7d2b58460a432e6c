// Estimates how much disk space a camera's recordings need and how far back they reach.

import type { Storage } from '../../sdk/index.ts'

export type CostQuestion = {
  readonly days: number
  /** The camera's own limit; undefined for none. */
  readonly maxBytes: number | undefined
  readonly bytesPerDay: number
  /** Space available to this camera, including its present recordings; undefined if unknown. */
  readonly roomBytes: number | undefined
}

export type Cost = {
  /** Size once old recordings are deleted as fast as new ones are added. */
  readonly bytes: number
  /** How far back recordings reach by then. */
  readonly days: number
  /** What shortens the requested retention time. */
  readonly endedBy: 'limit' | 'room' | undefined
}

export function findCost({ days, maxBytes, bytesPerDay, roomBytes }: CostQuestion): Cost {
  const wantedBytes = days * bytesPerDay
  const limits = [
    { bytes: maxBytes ?? Number.POSITIVE_INFINITY, endedBy: 'limit' as const },
    { bytes: roomBytes ?? Number.POSITIVE_INFINITY, endedBy: 'room' as const },
  ]
  const [{ bytes, endedBy } = limits[0]!] = limits.sort((a, b) => a.bytes - b.bytes)
  if (bytes >= wantedBytes) return { bytes: wantedBytes, days, endedBy: undefined }
  return { bytes, days: bytes / bytesPerDay, endedBy }
}

/** The space that one camera's recordings may use, as far as this user may know. */
export function findRoom(storage: Storage, cameraId: number | undefined): number | undefined {
  const used = storage.cameras.find(({ id }) => id === cameraId)?.used_bytes ?? 0
  const { server } = storage
  const rooms = [
    storage.max_bytes === null ? undefined : storage.max_bytes - storage.used_bytes,
    server?.max_bytes == null ? undefined : server.max_bytes - server.used_bytes,
    server?.disk_free_bytes == null ? undefined : server.disk_free_bytes - (server.min_free_bytes ?? 0),
  ].filter((room) => room !== undefined)
  return rooms.length === 0 ? undefined : Math.max(0, Math.min(...rooms)) + used
}
