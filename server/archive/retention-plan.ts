// What footage must go now, oldest first, and why. Reads the index only: a pass deletes what comes out, the dry run prints it.
// The five stages are explained in docs/design/retention.md.

import { OldestFirst } from './oldest-first.ts'
import type { SegmentRows } from './segment-rows.ts'

/** What one camera may keep. */
export type CameraLimits = {
  readonly cameraId: number
  readonly ownerId: number
  /** Footage that ended longer ago goes. */
  readonly maxAgeMs: number
  readonly maxBytes: number | undefined
  /** False when recording is turned off, and what there is only waits for its end. */
  readonly isRecorded: boolean
}

export type RetentionLimits = {
  readonly cameras: readonly CameraLimits[]
  /** Bytes over all cameras of a user, by the user's id. */
  readonly users: ReadonlyMap<number, number>
  /** Of the whole archive. */
  readonly maxBytes: number | undefined
}

export type RetentionReason = 'age' | 'camera_bytes' | 'user_bytes' | 'archive_bytes' | 'disk_space'

export type PlanOptions = {
  readonly rows: Pick<SegmentRows, 'listOldest' | 'listUsage'>
  readonly limits: RetentionLimits
  readonly nowMs: number
  /** Of the files being recorded, by camera: they count, and stay. */
  readonly openBytes: ReadonlyMap<number, number>
  /** So much more of the disk should be free. */
  readonly missingBytes: number
  /** Lets others have the thread for a moment: reading the beginnings of a thousand cameras takes it some 50 ms. */
  readonly rest?: () => Promise<void>
}

/** After so many cameras were looked at. */
const restAfter = 50

export type Doomed = {
  readonly id: number
  readonly cameraId: number
  readonly startMs: number
  readonly endMs: number
  readonly bytes: number
  readonly reason: RetentionReason
}

type Camera = { readonly cursor: OldestFirst; bytes: number }

/** What was given out counts as gone, whether it is deleted at once or not at all. */
export async function* planRetention(options: PlanOptions): AsyncGenerator<Doomed, void, void> {
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
  // What goes for other reasons makes room too.
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

async function* takeOld(camera: Camera, beforeMs: number, nowMs: number): AsyncGenerator<Doomed, void, void> {
  const { cursor } = camera
  /** Ids of footage from the future that were passed over so far, and those before something that is too old. */
  const future: number[] = []
  let old = 0
  for (;;) {
    if (!cursor.isLoaded) await cursor.load()
    const { head } = cursor
    if (!head) break
    if (head.startMs > nowMs) {
      // Recorded before the clock was set back: how old it is shows in what was recorded after it.
      future.push(head.id)
      cursor.passOver()
      continue
    }
    if (head.startMs > beforeMs) break
    // It may last longer than one that began after it: it waits, the others go.
    if (head.endMs > beforeMs) cursor.passOver()
    else {
      old = future.length
      yield take(camera, 'age')!
    }
  }
  cursor.rewind()
  const doomed = new Set(future.slice(0, old))
  while (doomed.size > 0 && cursor.head) {
    if (doomed.delete(cursor.head.id)) yield take(camera, 'age')!
    else cursor.passOver()
  }
  cursor.rewind()
}

function sumBytes(cameras: readonly Camera[]): number {
  return cameras.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** The oldest of them all until they hold no more than `maxBytes`. */
async function* takeExcess(
  cameras: readonly Camera[],
  maxBytes: number,
  reason: RetentionReason,
): AsyncGenerator<Doomed, void, void> {
  let excess = sumBytes(cameras) - maxBytes
  while (excess > 0) {
    const doomed = take(await findOldest(cameras), reason)
    if (!doomed) return
    excess -= doomed.bytes
    yield doomed
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

function take(camera: Camera | undefined, reason: RetentionReason): Doomed | undefined {
  const head = camera?.cursor.head
  if (!camera || !head) return undefined
  camera.cursor.take()
  camera.bytes -= head.bytes
  const { id, startMs, endMs, bytes } = head
  return { id, cameraId: camera.cursor.cameraId, startMs, endMs, bytes, reason }
}
