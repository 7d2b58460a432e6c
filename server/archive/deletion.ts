// Deletes segments so that neither a crash nor a power loss leaves a row without its file or a file without a row. Rows
// first become pending deletions, then the files are deleted, then the pending deletions are removed. Each step starts
// when the previous one is on the disk. Running it again completes an interrupted deletion.

import { rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { AppError, errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { syncFolder } from '../base/sync-folder.ts'
import type { FileLocation, PendingDeletion } from '../model/segment-views.ts'
import type { Places } from '../places/places.ts'
import type { FinalSyncs } from './final-syncs.ts'
import { findCameraOfPath } from './layout.ts'
import type { SegmentRows } from './segment-rows.ts'

export type DeletionContext = {
  readonly rows: SegmentRows
  readonly places: Places
  readonly clock: Clock
  readonly log: Logger
  /** The name of this server, where several share a database: what others copy is not touched. */
  readonly node?: string | undefined
  /** Used to repair files; by default, a new one is created. */
  readonly syncs?: FinalSyncs
}

export async function deleteSegments(context: DeletionContext, ids: readonly number[]): Promise<void> {
  await forgetPendingDeletions(context, await deleteFiles(context, ids))
}

/**
 * The first two steps of `deleteSegments`. Returns the pending deletions that the caller must pass to
 * `forgetPendingDeletions`; the next start of the server repeats those that were not.
 */
export async function deleteFiles(context: DeletionContext, ids: readonly number[]): Promise<PendingDeletion[]> {
  return ids.length === 0 ? [] : deletePendingFiles(context, await context.rows.markPendingDeletions(ids))
}

/** Runs after `deleteFiles`. It syncs each folder once, so it is cheaper for many files at once. */
export async function forgetPendingDeletions(
  { rows, places, clock }: DeletionContext,
  gone: readonly PendingDeletion[],
): Promise<void> {
  if (gone.length === 0) return
  const inFolders = gone.filter(({ placeId }) => places.folders.some(({ id }) => id === placeId))
  const folders = [...new Set(inFolders.map((each) => dirname(places.pathOf(each))))]
  // A folder that no longer exists needs no sync.
  for (let i = 0; i < folders.length; i += syncsAtOnce)
    await Promise.all(folders.slice(i, i + syncsAtOnce).map((folder) => syncFolder(folder).catch(ignoreMissing)))
  await rows.remove(gone.map(({ id }) => id))
  // A recorder may be about to create a file in the folder of today.
  const today = new Date(clock.nowMs()).toISOString().slice(0, 10)
  for (const folder of folders) if (!folder.endsWith(today)) await deleteEmptyFolder(folder)
}

const pageSize = 200
/** Node runs four file operations at a time in its thread pool. */
const syncsAtOnce = 4

/** Completes the deletions that an earlier run marked and did not finish, in the places that are there. */
export async function finishPendingDeletions(context: DeletionContext): Promise<void> {
  for (const { id } of await context.places.listPresent()) {
    for (;;) {
      const pending = await context.rows.listPendingDeletions(pageSize, id)
      const gone = await deletePendingFiles(context, pending)
      await forgetPendingDeletions(context, gone)
      if (pending.length < pageSize || gone.length < pending.length) break
    }
  }
}

/**
 * Deletes the files of pending deletions, once these are on the disk. Returns those whose files are gone. A file that
 * cannot be deleted stays pending and is tried again later; those in places of other servers are left to these.
 */
export async function deletePendingFiles(
  context: DeletionContext,
  given: readonly PendingDeletion[],
): Promise<PendingDeletion[]> {
  const own = new Set(context.places.all.map(({ id }) => id))
  const pending = given.filter(({ placeId }) => own.has(placeId))
  const gone: PendingDeletion[] = []
  // Sync before the first file is deleted: the index must never list a deleted file.
  if (pending.length > 0) await context.rows.sync()
  const inPlace = async ([placeId, some]: readonly [number, readonly PendingDeletion[]]) => {
    const failed = await removeFrom(context.places, placeId, some)
    for (const each of some) {
      if (!failed.has(each.path)) gone.push(each)
      else {
        const error = errorChain(failed.get(each.path))
        context.log.warn({ path: each.path, error }, 'the recording could not be deleted')
      }
    }
  }
  await Promise.all([...Map.groupBy(pending, ({ placeId }) => placeId)].map(inPlace))
  return gone
}

async function removeFrom(
  places: Places,
  placeId: number,
  files: readonly FileLocation[],
): Promise<ReadonlyMap<string, unknown>> {
  const paths = files.map(({ path }) => path)
  try {
    if (paths.some((path) => findCameraOfPath(path) === undefined))
      throw new AppError('internal', 'expected the path of a recording')
    return await places.filesOf(placeId).removeAll(paths)
  } catch (error) {
    return new Map(paths.map((path) => [path, error]))
  }
}

/** Removes the folder if it is empty. */
export async function deleteEmptyFolder(folder: string): Promise<void> {
  await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
}

/** For a file or folder that may be gone by now. Throws any other error of the system. */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
