// Plans which footage must be deleted now, oldest first, and why. It only reads the index. Retention deletes the
// result, and the dry run prints it. docs/design/retention.md explains the five stages.

import { OldestFirst } from './oldest-first.ts'
import type { SegmentRows } from './segment-rows.ts'

/** What one camera may keep. */
export type CameraLimits = {
  readonly cameraId: number
  readonly ownerId: number
  /** Footage that ended longer ago is deleted. */
  readonly maxAgeMs: number
  readonly maxBytes: number | undefined
  /** False when recording is turned off and existing footage only waits to expire. */
  readonly isRecorded: boolean
}

export type RetentionLimits = {
  readonly cameras: readonly CameraLimits[]
  /** Byte limits over all cameras of a user, by the user's id. */
  readonly users: ReadonlyMap<number, number>
  /** Users who do not own the server; see `findShareBytes`. */
  readonly others?: ReadonlySet<number>
  /** The limit of the whole archive. */
  readonly maxBytes: number | undefined
}

export type RetentionReason = 'age' | 'camera_bytes' | 'user_bytes' | 'archive_bytes' | 'disk_space'

export type PlanOptions = {
  readonly rows: Pick<SegmentRows, 'listOldest' | 'listUsage'>
  readonly limits: RetentionLimits
  readonly nowMs: number
  /** Bytes of the files being recorded, by camera. They count and are kept. */
  readonly openBytes: ReadonlyMap<number, number>
  /** This much more of the disk should be free. */
  readonly missingBytes: number
  /** Yields the thread. Reading the oldest segments of a thousand cameras takes some 50 ms. */
  readonly rest?: () => Promise<void>
}

/** Yields after this many cameras. */
const restAfter = 50

export type PlannedDeletion = {
  readonly id: number
  readonly cameraId: number
  readonly startMs: number
  readonly endMs: number
  readonly bytes: number
  readonly reason: RetentionReason
}

/** What users who do not own the server keep of all footage when there is no room for more. */
const shareOfOthers = 0.1

/**
 * Bytes of a user that are deleted no earlier than those of others when the archive or the disk is full: the user's
 * limit or, without one, a tenth of the `wholeBytes` that all footage may have. Undefined for owners of the server,
 * whose footage is deleted only where all other users are within their shares.
 */
export function findShareBytes(
  { users, others }: Pick<RetentionLimits, 'users' | 'others'>,
  userId: number,
  wholeBytes: number,
): number | undefined {
  return others?.has(userId) ? (users.get(userId) ?? wholeBytes * shareOfOthers) : undefined
}

type Camera = { readonly cursor: OldestFirst; bytes: number }

/** Planned segments count as deleted, whether or not they are. */
export async function* planRetention(options: PlanOptions): AsyncGenerator<PlannedDeletion, void, void> {
  const { limits } = options
  const cameras = await openCameras(options)
  const all = [...cameras.values()]
  const beforeBytes = sumBytes(all)
  for (const [i, { cameraId, maxAgeMs }] of limits.cameras.entries()) {
    if (i % restAfter === restAfter - 1) await options.rest?.()
    const camera = cameras.get(cameraId)
    if (camera) yield* takeOld(camera, options.nowMs - maxAgeMs, options.nowMs)
  }
  for (const { cameraId, maxBytes } of limits.cameras) {
    const camera = cameras.get(cameraId)
    if (camera && maxBytes !== undefined) yield* takeExcess([camera], maxBytes, 'camera_bytes')
  }
  for (const [userId, maxBytes] of limits.users) {
    const own = limits.cameras.flatMap(({ cameraId, ownerId }) =>
      ownerId === userId ? (cameras.get(cameraId) ?? []) : [],
    )
    yield* takeExcess(own, maxBytes, 'user_bytes')
  }
  const accounts = groupByOwner(limits, cameras)
  if (limits.maxBytes !== undefined) {
    yield* takeBeyondShares(accounts, all, limits, limits.maxBytes, 'archive_bytes')
    yield* takeExcess(all, limits.maxBytes, 'archive_bytes')
  }
  // Deletions for other reasons make room as well.
  const wholeBytes = beforeBytes - options.missingBytes
  yield* takeBeyondShares(accounts, all, limits, wholeBytes, 'disk_space')
  yield* takeExcess(all, wholeBytes, 'disk_space')
}

function groupByOwner(
  { cameras: all }: RetentionLimits,
  cameras: ReadonlyMap<number, Camera>,
): ReadonlyMap<number, readonly Camera[]> {
  const accounts = new Map<number, Camera[]>()
  for (const { cameraId, ownerId } of all) {
    const camera = cameras.get(cameraId)
    if (camera) accounts.set(ownerId, [...(accounts.get(ownerId) ?? []), camera])
  }
  return accounts
}

/** Takes the oldest of what users have beyond their shares, until `maxBytes` in all are no longer exceeded. */
async function* takeBeyondShares(
  accounts: ReadonlyMap<number, readonly Camera[]>,
  all: readonly Camera[],
  limits: RetentionLimits,
  maxBytes: number,
  reason: RetentionReason,
): AsyncGenerator<PlannedDeletion, void, void> {
  let excess = sumBytes(all) - maxBytes
  while (excess > 0) {
    const greedy = [...accounts].flatMap(([userId, cameras]) => {
      const share = findShareBytes(limits, userId, maxBytes)
      return share !== undefined && sumBytes(cameras) > share ? cameras : []
    })
    const planned = take(await findOldest(greedy), reason)
    if (!planned) return
    excess -= planned.bytes
    yield planned
  }
}

async function openCameras({ rows, openBytes }: PlanOptions): Promise<Map<number, Camera>> {
  const cameras = new Map<number, Camera>()
  for (const { cameraId, bytes } of await rows.listUsage()) {
    cameras.set(cameraId, { cursor: new OldestFirst(rows, cameraId), bytes })
  }
  for (const [cameraId, bytes] of openBytes) {
    const camera = cameras.get(cameraId) ?? { cursor: new OldestFirst(rows, cameraId), bytes: 0 }
    camera.bytes += bytes
    cameras.set(cameraId, camera)
  }
  return cameras
}

async function* takeOld(camera: Camera, beforeMs: number, nowMs: number): AsyncGenerator<PlannedDeletion, void, void> {
  const { cursor } = camera
  /** Ids of footage from the future that was skipped so far, and of footage before something that is too old. */
  const future: number[] = []
  let old = 0
  for (;;) {
    if (!cursor.isLoaded) await cursor.load()
    const { head } = cursor
    if (!head) break
    if (head.startMs > nowMs) {
      // It was recorded before the clock was set back. Its age follows from the footage recorded after it.
      future.push(head.id)
      cursor.passOver()
      continue
    }
    if (head.startMs > beforeMs) break
    // It may last longer than one that began later. It waits while others are deleted.
    if (head.endMs > beforeMs) cursor.passOver()
    else {
      old = future.length
      yield take(camera, 'age')!
    }
  }
  cursor.rewind()
  const planned = new Set(future.slice(0, old))
  while (planned.size > 0 && cursor.head) {
    if (planned.delete(cursor.head.id)) yield take(camera, 'age')!
    else cursor.passOver()
  }
  cursor.rewind()
}

function sumBytes(cameras: readonly Camera[]): number {
  return cameras.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** Takes the oldest segments of all until `maxBytes` is no longer exceeded. */
async function* takeExcess(
  cameras: readonly Camera[],
  maxBytes: number,
  reason: RetentionReason,
): AsyncGenerator<PlannedDeletion, void, void> {
  let excess = sumBytes(cameras) - maxBytes
  while (excess > 0) {
    const planned = take(await findOldest(cameras), reason)
    if (!planned) return
    excess -= planned.bytes
    yield planned
  }
}

async function findOldest(cameras: readonly Camera[]): Promise<Camera | undefined> {
  for (const { cursor } of cameras) if (!cursor.isLoaded) await cursor.load()
  let oldest: Camera | undefined
  for (const camera of cameras) {
    const { head } = camera.cursor
    if (head && (!oldest || head.startMs < oldest.cursor.head!.startMs)) oldest = camera
  }
  return oldest
}

function take(camera: Camera | undefined, reason: RetentionReason): PlannedDeletion | undefined {
  const head = camera?.cursor.head
  if (!camera || !head) return undefined
  camera.cursor.take()
  camera.bytes -= head.bytes
  const { id, startMs, endMs, bytes } = head
  return { id, cameraId: camera.cursor.cameraId, startMs, endMs, bytes, reason }
}
