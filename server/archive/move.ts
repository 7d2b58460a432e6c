// Moves closed recordings from one place to others while they are played and while cameras record. For each file: copy,
// sync, read back and compare, then one transaction that names the new file in the index and makes the old one a pending
// deletion. An interruption at any moment leaves one file that the index names; the next run continues.

import { AppError, errorChain } from '../base/error.ts'
import { freeFloorBytes } from '../model/free-space.ts'
import { isBucket, type Place } from '../model/place.ts'
import type { CopyOwner, FileLocation, OldSegment, SegmentLocation } from '../model/segment-views.ts'
import type { FootageFile } from '../places/place-files.ts'
import { type DeletionContext, finishPendingDeletions } from './deletion.ts'
import { nextPath } from './layout.ts'
import { OldestFirst } from './oldest-first.ts'

export type MoveOptions = DeletionContext & {
  readonly owner: CopyOwner
  readonly from: Place
  /** Each file goes to the one with the most room. */
  readonly targets: readonly Place[]
  /** Default: all. */
  readonly cameraId?: number | undefined
  /** Only footage of a camera that ended by then. Unix milliseconds. Default: all. */
  readonly endedByMs?: ((cameraId: number) => number) | undefined
  /** Free space to keep, as configured; see `freeFloorBytes`. */
  readonly minFreeBytes: number | undefined
  readonly bytesPerSecond: number
  /** Cameras whose files are moved at the same time. Default: 1. */
  readonly atOnce?: number
  /** Ends after the files that are being moved. */
  readonly signal?: AbortSignal
  readonly onProgress?: ((progress: MoveProgress) => void) | undefined
}

export type MoveProgress = {
  files: number
  bytes: number
  /** Recordings that stay where they are because they could not be read or written. */
  readonly failed: { readonly path: string; readonly detail: string }[]
}

const maxNames = 100
/** Deleting syncs the index, so it is done for several files at once. */
const filesAtOnce = 32

/**
 * Resolves when all is moved that can be. Throws 'unavailable' when a place is away or no target has room, and the
 * database's errors. What was moved before stays moved.
 */
export async function moveRecordings(options: MoveOptions): Promise<MoveProgress> {
  const { rows, from, cameraId: only, atOnce = 1 } = options
  const progress: MoveProgress = { files: 0, bytes: 0, failed: [] }
  await finishPendingDeletions(options)
  const usage = (await rows.listUsage()).filter(({ placeId }) => placeId === from.id)
  const cameras = usage.map(({ cameraId }) => cameraId).filter((id) => only === undefined || id === only)
  const ended = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, ended.signal]) : ended.signal
  const runs = Array.from({ length: atOnce }, async () => {
    try {
      for (let next = cameras.shift(); next !== undefined; next = cameras.shift())
        await moveCamera(options, next, progress, signal)
    } catch (error) {
      ended.abort()
      throw error
    }
  })
  const [failure] = (await Promise.allSettled(runs)).filter((run) => run.status === 'rejected')
  if (progress.files > 0) await finishPendingDeletions(options)
  if (failure) throw failure.reason
  return progress
}

async function moveCamera(
  options: MoveOptions,
  cameraId: number,
  progress: MoveProgress,
  signal: AbortSignal,
): Promise<void> {
  const filter = { placeId: options.from.id, endedByMs: options.endedByMs?.(cameraId) }
  const oldest = new OldestFirst(options.rows, cameraId, filter)
  while (!signal.aborted) {
    await oldest.load()
    const { head } = oldest
    if (!head) return
    oldest.take()
    await moveCounted(options, head, progress)
    if (progress.files % filesAtOnce === 0) await finishPendingDeletions(options)
  }
}

async function moveCounted(options: MoveOptions, { id, bytes }: OldSegment, progress: MoveProgress): Promise<void> {
  const { rows, places, clock, from, bytesPerSecond, onProgress } = options
  const startedMs = clock.monotonicMs()
  const segment = await rows.find(id)
  // Retention may have deleted it meanwhile.
  if (segment?.placeId !== from.id) return
  const target = await chooseTarget(options, bytes)
  try {
    if (!(await moveOne(options, segment, target))) return
    progress.files++
    progress.bytes += bytes
  } catch (error) {
    // A store that is away will not take the next file either.
    const isOfStore = (isBucket(from) || isBucket(target)) && error instanceof AppError && error.kind === 'unavailable'
    if (isOfStore) throw error
    for (const place of [from, target])
      if (!(await places.isPresent(place.id)))
        throw new AppError('unavailable', `the disk of ${place.folder} is away`, { cause: error })
    progress.failed.push({ path: segment.path, detail: errorChain(error) })
  }
  onProgress?.(progress)
  const dueMs = startedMs + (bytes / bytesPerSecond) * 1000
  const earlyMs = dueMs - clock.monotonicMs()
  if (earlyMs > 0) await clock.sleep(earlyMs)
}

async function chooseTarget({ places, targets, minFreeBytes }: MoveOptions, bytes: number): Promise<Place> {
  let best: { readonly place: Place; readonly room: number } | undefined
  const reasons: string[] = []
  for (const place of targets) {
    try {
      const disk = await places.filesOf(place.id).measure()
      const room = disk ? disk.freeBytes - freeFloorBytes(disk, minFreeBytes) - bytes : Number.POSITIVE_INFINITY
      if (room < 0) reasons.push(`${place.folder} is full`)
      else if (!best || room > best.room) best = { place, room }
    } catch (error) {
      reasons.push(`${place.folder}: ${errorChain(error)}`)
    }
  }
  if (best) return best.place
  throw new AppError('unavailable', `there is no room for more recordings: ${reasons.join('; ')}`)
}

type Moving = SegmentLocation & { readonly cameraId: number; readonly bytes: number }

/** Returns false if the recording was deleted meanwhile, or moved by somebody else. */
async function moveOne(options: MoveOptions, segment: Moving, target: Place): Promise<boolean> {
  const { rows, places } = options
  await using source = await places.filesOf(segment.placeId).open(segment.path)
  const to = await createCopy(options, { segment, source, target })
  if (await rows.move(segment.id, segment, to)) return true
  await removeCopy(options, to)
  return false
}

/**
 * Deletes copies that an earlier run of this owner began and did not finish. Those in places that are away or read-only
 * wait. Call it while this owner moves nothing.
 */
export async function removeUnfinishedCopies(context: DeletionContext, owner?: CopyOwner): Promise<void> {
  for (const copy of await context.rows.listCopies(owner, context.node)) {
    if (!(await context.places.isPresent(copy.placeId))) continue
    try {
      await removeCopy(context, copy)
    } catch (error) {
      const { placeId, path } = copy
      context.log.warn({ placeId, path, error: errorChain(error) }, 'an unfinished copy could not be deleted')
    }
  }
}

async function removeCopy(
  { rows, places }: Pick<DeletionContext, 'rows' | 'places'>,
  copy: FileLocation,
): Promise<void> {
  await places.filesOf(copy.placeId).remove(copy.path)
  await rows.endCopy(copy)
}

type Copying = { readonly segment: Moving; readonly source: FootageFile; readonly target: Place }

/** The copy is complete, verified and durable. */
async function createCopy(
  { rows, places, owner, node }: MoveOptions,
  { segment, source, target }: Copying,
): Promise<FileLocation> {
  let { path } = segment
  for (let attempt = 0; attempt < maxNames; attempt++) {
    path = nextPath(path, owner)
    const copy = { placeId: target.id, path }
    await rows.beginCopy(copy, owner, node)
    try {
      if (await places.filesOf(target.id).put(path, source, segment.bytes)) return copy
    } catch (error) {
      // What is left of it, if anything, is deleted by the next run.
      if (await places.isPresent(target.id)) await removeCopy({ rows, places }, copy).catch(() => {})
      throw error
    }
    // Another file has this name.
    await rows.endCopy(copy)
  }
  throw new AppError('conflict', `there is no free name for ${segment.path} in ${target.folder}`)
}
