// Moves closed recordings from one place to others while they are played and while cameras record. For each file: copy,
// sync, read back and compare, then one transaction that names the new file in the index and makes the old one a pending
// deletion. An interruption at any moment leaves one file that the index names; the next run continues.

import { type FileHandle, open, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { AppError, errorChain } from '../base/error.ts'
import { makeFolder } from '../base/make-folder.ts'
import { syncFolder } from '../base/sync-folder.ts'
import { freeFloorBytes } from '../model/free-space.ts'
import type { Place } from '../model/place.ts'
import type { FileLocation, OldSegment, SegmentLocation } from '../model/segment-views.ts'
import { measurePlace } from '../places/disk-space.ts'
import { type DeletionContext, finishPendingDeletions } from './deletion.ts'
import { alternativePath, startOfPath } from './layout.ts'
import { OldestFirst } from './oldest-first.ts'
import { openRecording } from './recording-file.ts'

export type MoveOptions = DeletionContext & {
  readonly from: Place
  /** Each file goes to the one with the most room. */
  readonly targets: readonly Place[]
  /** Default: all. */
  readonly cameraId?: number | undefined
  /** Only footage that ended before. Unix milliseconds. */
  readonly beforeMs?: number | undefined
  /** Free space to keep, as configured; see `freeFloorBytes`. */
  readonly minFreeBytes: number | undefined
  readonly bytesPerSecond: number
  readonly onProgress?: ((progress: MoveProgress) => void) | undefined
}

export type MoveProgress = {
  files: number
  bytes: number
  /** Recordings that stay where they are because they could not be read or written. */
  readonly failed: { readonly path: string; readonly detail: string }[]
}

const bufferBytes = 2 ** 20
const maxNames = 100
/** The name of a file and its row are of the same time. */
const nearMs = 60_000
/** Deleting syncs the index, so it is done for several files at once. */
const filesAtOnce = 32

/**
 * Resolves when all is moved that can be. Throws 'unavailable' when a place is away or no target has room, and the
 * database's errors. What was moved before stays moved.
 */
export async function moveRecordings(options: MoveOptions): Promise<MoveProgress> {
  const { rows, from, cameraId: only } = options
  const progress: MoveProgress = { files: 0, bytes: 0, failed: [] }
  await finishPendingDeletions(options)
  const cameras = (await rows.listUsage()).filter(({ placeId }) => placeId === from.id).map(({ cameraId }) => cameraId)
  for (const cameraId of cameras) {
    if (only !== undefined && cameraId !== only) continue
    const oldest = new OldestFirst(rows, cameraId, from.id)
    for (;;) {
      await oldest.load()
      const { head } = oldest
      if (!head) break
      oldest.take()
      if (options.beforeMs !== undefined && head.endMs > options.beforeMs) continue
      await moveCounted(options, head, progress)
      if (progress.files % filesAtOnce === 0) await finishPendingDeletions(options)
    }
  }
  await finishPendingDeletions(options)
  return progress
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

async function chooseTarget({ targets, minFreeBytes }: MoveOptions, bytes: number): Promise<Place> {
  let best: { readonly place: Place; readonly room: number } | undefined
  const reasons: string[] = []
  for (const place of targets) {
    try {
      const disk = await measurePlace(place)
      const room = disk.freeBytes - freeFloorBytes(disk, minFreeBytes) - bytes
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

/** Returns false if the recording was deleted meanwhile. */
async function moveOne(options: MoveOptions, segment: Moving, target: Place): Promise<boolean> {
  const { rows, places } = options
  await using source = await openRecording(places, segment)
  const to = await createCopy(options, { segment, source, target })
  if (await rows.move(segment.id, segment, to)) return true
  await unlink(places.pathOf(to))
  return false
}

type Copying = { readonly segment: Moving; readonly source: FileHandle; readonly target: Place }

/** The copy is complete, verified and on the disk. */
async function createCopy(options: MoveOptions, copying: Copying): Promise<FileLocation> {
  const { places } = options
  const { segment, source, target } = copying
  for (let attempt = 0; attempt < maxNames; attempt++) {
    const path = attempt === 0 ? segment.path : alternativePath(segment.path, attempt)
    const to = { placeId: target.id, path }
    const fullPath = places.pathOf(to)
    if (await isNamed(options, segment.cameraId, to)) continue
    await makeFolder(dirname(fullPath), 0o750)
    // An interrupted run may have left a part of the copy.
    if (await isBeginning(fullPath, source)) await unlink(fullPath)
    let file: FileHandle
    try {
      file = await open(fullPath, 'wx+', 0o640)
    } catch (error) {
      // Retention deletes folders that have become empty.
      if (['EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code!)) continue
      throw error
    }
    try {
      const { bytes, checksum } = await sum(source, file)
      if (bytes !== segment.bytes)
        throw new AppError('corrupt', `the file has ${bytes} bytes, the index says ${segment.bytes}: nightjar check`)
      await file.datasync()
      const copied = await sum(file)
      if (copied.bytes !== bytes || copied.checksum !== checksum)
        throw new AppError('corrupt', `the copy in ${target.folder} differs: its disk does not store what is written`)
      await syncNewFolders(target.folder, dirname(fullPath))
      return to
    } catch (error) {
      await unlink(fullPath).catch(() => {})
      throw error
    } finally {
      await file.close()
    }
  }
  throw new AppError('conflict', `there is no free name for ${segment.path} in ${target.folder}`)
}

/** The index, or a pending deletion, names this file. */
async function isNamed({ rows }: MoveOptions, cameraId: number, { placeId, path }: FileLocation): Promise<boolean> {
  const pending = await rows.listPendingDeletions(Number.MAX_SAFE_INTEGER, placeId)
  if (pending.some((each) => each.path === path)) return true
  const startMs = startOfPath(path)
  const near = await rows.listFiles(cameraId, startMs - nearMs, startMs + nearMs)
  return near.some((file) => file.placeId === placeId && file.path === path)
}

/** Whether the file exists and holds nothing but the beginning of `source`. */
export async function isBeginning(path: string, source: FileHandle): Promise<boolean> {
  let file: FileHandle
  try {
    file = await open(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
  await using _ = file
  const own = new Uint8Array(bufferBytes)
  const other = new Uint8Array(bufferBytes)
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(own, 0, bufferBytes, at)
    if (bytesRead === 0) return true
    const { bytesRead: length } = await source.read(other, 0, bytesRead, at)
    if (length < bytesRead || Buffer.compare(own.subarray(0, bytesRead), other.subarray(0, bytesRead)) !== 0)
      return false
    at += bytesRead
  }
}

/** Reads a file to its end, and copies it to `target`. */
async function sum(file: FileHandle, target?: FileHandle): Promise<{ bytes: number; checksum: number }> {
  const buffer = new Uint8Array(bufferBytes)
  let bytes = 0
  let checksum = 0
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, bufferBytes, bytes)
    if (bytesRead === 0) return { bytes, checksum }
    const read = buffer.subarray(0, bytesRead)
    checksum = crc32(read, checksum)
    if (target) await target.writeFile(read)
    bytes += bytesRead
  }
}

/** From the folder of the file up to that of the place, because any of them may be new. */
async function syncNewFolders(root: string, folder: string): Promise<void> {
  for (let each = folder; each.length >= root.length; each = dirname(each)) await syncFolder(each)
}
