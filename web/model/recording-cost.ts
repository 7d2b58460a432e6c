// Estimates how much disk space a camera's recordings need and how far back they will reach. As on the server, the oldest
// recordings of all cameras are deleted first where space is short, so all of them reach back equally far.

import type { Storage } from '../../sdk/index.ts'

export type CostQuestion = {
  readonly days: number
  /** The camera's own limit; undefined for none. */
  readonly maxBytes: number | undefined
  readonly bytesPerDay: number
  /** Undefined until it is known. */
  readonly storage: Storage | undefined
  /** Undefined for a camera that is being added. */
  readonly cameraId: number | undefined
}

export type Cost = {
  /** Size once old recordings are deleted as fast as new ones are added, if there is space. */
  readonly bytes: number
  /** How far back recordings reach by then. */
  readonly days: number
  /** What shortens the requested retention time. */
  readonly endedBy: 'limit' | 'room' | undefined
}

type Recorded = { readonly bytesPerDay: number; readonly days: number }

export function findCost({ days: wanted, maxBytes, bytesPerDay, storage, cameraId }: CostQuestion): Cost {
  const days = maxBytes === undefined ? wanted : Math.min(wanted, maxBytes / bytesPerDay)
  const bytes = days * bytesPerDay
  const roomDays = storage ? findRoomDays(storage, cameraId, { bytesPerDay, days }) : Number.POSITIVE_INFINITY
  if (roomDays < days) return { bytes, days: roomDays, endedBy: 'room' }
  return { bytes, days, endedBy: days < wanted ? 'limit' : undefined }
}

/** How far back recordings can reach, as far as this user may know, if `camera` is recorded like this. */
function findRoomDays({ cameras, max_bytes, server }: Storage, cameraId: number | undefined, camera: Recorded): number {
  const others = cameras.filter(({ id }) => id !== cameraId)
  const own: Recorded[] = [
    camera,
    ...others.map(({ bytes_per_day, retention_days, max_bytes: limit }) => ({
      bytesPerDay: bytes_per_day,
      days: Math.min(retention_days ?? 0, limit === null ? Number.POSITIVE_INFINITY : limit / bytes_per_day),
    })),
  ]
  const userDays = max_bytes === null ? Number.POSITIVE_INFINITY : findReach(max_bytes, own)
  if (!server) return userDays
  const ownPerDay = cameras.reduce((sum, { bytes_per_day }) => sum + bytes_per_day, 0)
  const foreign = { bytesPerDay: Math.max(0, server.bytes_per_day - ownPerDay), days: Number.POSITIVE_INFINITY }
  const diskBytes =
    server.disk_free_bytes === null
      ? Number.POSITIVE_INFINITY
      : Math.max(0, server.used_bytes + server.disk_free_bytes - (server.min_free_bytes ?? 0))
  return Math.min(userDays, findReach(Math.min(diskBytes, server.max_bytes ?? diskBytes), [...own, foreign]))
}

/** For how many days the recordings of all of them fit; none is kept for longer than its own days. */
function findReach(roomBytes: number, cameras: readonly Recorded[]): number {
  let leftBytes = roomBytes
  let reachedDays = 0
  const rest = cameras.filter(({ bytesPerDay }) => bytesPerDay > 0).toSorted((a, b) => a.days - b.days)
  let perDay = rest.reduce((sum, { bytesPerDay }) => sum + bytesPerDay, 0)
  for (const { bytesPerDay, days } of rest) {
    const neededBytes = perDay * (days - reachedDays)
    if (neededBytes > leftBytes) return reachedDays + leftBytes / perDay
    leftBytes -= neededBytes
    reachedDays = days
    perDay -= bytesPerDay
  }
  return Number.POSITIVE_INFINITY
}
