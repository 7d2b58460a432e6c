// What recording a camera takes on the disk, and how far back its footage reaches with that.

import type { Storage } from '../../sdk/index.ts'

export type CostQuestion = {
  readonly days: number
  /** The camera's own limit; undefined: none. */
  readonly maxBytes: number | undefined
  readonly bytesPerDay: number
  /** What is left for this camera, its present footage included; undefined: not known. */
  readonly roomBytes: number | undefined
}

export type Cost = {
  /** When it has grown as far as it will. */
  readonly bytes: number
  /** How far back footage reaches then. */
  readonly days: number
  /** What makes it reach less far back than was asked for. */
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

/** What the footage of one camera may take at most, as far as this person is told. */
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
