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
  if (limits.maxBytes !== undefined) yield* takeExcess(all, limits.maxBytes, 'archive_bytes')
  // Deletions for other reasons make room as well.
  yield* takeExcess(all, beforeBytes - options.missingBytes, 'disk_space')
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
