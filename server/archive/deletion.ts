// Deletes segments so that neither a crash nor a loss of power leaves a row without its file or a file that nobody knows: the rows become
// garbage, the files go, the garbage goes, each when the one before is on the disk. Doing it again finishes it.

import { open, rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { AppError, errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import type { PendingDeletion } from '../model/segment-views.ts'
import { isArchiveThere } from './archive-folder.ts'
import type { FinalSyncs } from './final-syncs.ts'
import { findCameraOfPath } from './layout.ts'
import type { SegmentRows } from './segment-rows.ts'

export type DeletionContext = {
  readonly rows: SegmentRows
  readonly archiveDir: string
  readonly clock: Clock
  readonly log: Logger
  /** For what repairs files; default: one of its own. */
  readonly syncs?: FinalSyncs
}

export async function deleteSegments(context: DeletionContext, ids: readonly number[]): Promise<void> {
  await forgetGarbage(context, await deleteFiles(context, ids))
}

/** The first two thirds of `deleteSegments`. Returns what is left to be forgotten; whatever is not is deleted again by the next start. */
export async function deleteFiles(context: DeletionContext, ids: readonly number[]): Promise<PendingDeletion[]> {
  return ids.length === 0 ? [] : deleteGarbageFiles(context, await context.rows.markPendingDeletions(ids))
}

/** After `deleteFiles`. Waits for the disk once for each folder, so it is best done for many at once. */
export async function forgetGarbage(
  { rows, archiveDir, clock }: DeletionContext,
  gone: readonly PendingDeletion[],
): Promise<void> {
  if (gone.length === 0) return
  const folders = [...new Set(gone.map(({ path }) => dirname(path)))]
  await eachOf(folders, (folder) => syncFolder(join(archiveDir, folder)))
  await rows.remove(gone.map(({ id }) => id))
  // Not today's: a recorder may be about to create a file in it.
  const today = new Date(clock.nowMs()).toISOString().slice(0, 10)
  for (const folder of folders) if (!folder.endsWith(today)) await deleteEmptyFolder(archiveDir, folder)
}

const garbagePage = 200

/** What an earlier run has marked and not finished. */
export async function deleteLeftGarbage(context: DeletionContext): Promise<void> {
  for (;;) {
    const garbage = await context.rows.listPendingDeletions(garbagePage)
    const gone = await deleteGarbageFiles(context, garbage)
    await forgetGarbage(context, gone)
    if (garbage.length < garbagePage || gone.length < garbage.length) return
  }
}

/**
 * The files of rows that have become garbage, after that is on the disk. Returns those that are gone; a file that cannot be deleted stays
 * garbage and is tried again later.
 */
export async function deleteGarbageFiles(
  context: DeletionContext,
  garbage: readonly PendingDeletion[],
): Promise<PendingDeletion[]> {
  const gone: PendingDeletion[] = []
  // Before the first file goes: an index that names a file that was deleted would be a lie.
  if (garbage.length > 0) await context.rows.sync()
  await eachOf(garbage, async (each) => {
    try {
      await deleteFile(context.archiveDir, each.path)
      gone.push(each)
    } catch (error) {
      context.log.warn({ path: each.path, error: errorChain(error) }, 'recording not deleted')
    }
  })
  return gone
}

/** A few at once, as many as the process can spare threads for. */
const filesAtOnce = 4

async function eachOf<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < all.length; i += filesAtOnce) await Promise.all(all.slice(i, i + filesAtOnce).map(work))
}

async function deleteFile(archiveDir: string, path: string): Promise<void> {
  if (findCameraOfPath(path) === undefined) throw new AppError('internal', 'expected the path of a recording')
  try {
    await unlink(join(archiveDir, path))
  } catch (error) {
    ignoreMissing(error as NodeJS.ErrnoException)
    // On a disk that is not mounted it is not gone.
    if (!(await isArchiveThere(archiveDir))) throw new AppError('unavailable', 'the archive is away', { cause: error })
  }
}

/** From now on the names that are gone from it stay gone, unless it is gone itself. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(ignoreMissing)
  if (!handle) return
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Removes the folder when nothing is in it. */
export async function deleteEmptyFolder(archiveDir: string, folder: string): Promise<void> {
  await rmdir(join(archiveDir, folder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
