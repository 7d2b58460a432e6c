// Deletes segments so that a crash at any moment leaves no row without its file and no file that nobody knows: the rows become
// garbage, the files go, the garbage goes. Doing it again finishes it.

import { rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { AppError, errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import type { Garbage } from '../model/segment-views.ts'
import { findCameraOfPath } from './layout.ts'
import type { SegmentRows } from './segment-rows.ts'

export type DeletionContext = {
  readonly rows: SegmentRows
  readonly archiveDir: string
  readonly clock: Clock
  readonly log: Logger
}

export async function deleteSegments(context: DeletionContext, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  const garbage = await context.rows.markGarbage(ids)
  await deleteGarbage(context, garbage)
}

const garbagePage = 20
const filesAtOnce = 4

/** What an earlier run has marked and not finished. */
export async function deleteLeftGarbage(context: DeletionContext): Promise<void> {
  for (;;) {
    const garbage = await context.rows.listGarbage(garbagePage)
    const gone = await deleteGarbage(context, garbage)
    if (garbage.length < garbagePage || gone < garbage.length) return
  }
}

/** Returns how many are gone; a file that cannot be deleted stays garbage and is tried again later. */
async function deleteGarbage(context: DeletionContext, garbage: readonly Garbage[]): Promise<number> {
  const gone: Garbage[] = []
  const deleteOne = async (each: Garbage) => {
    try {
      await deleteFile(context.archiveDir, each.path)
      gone.push(each)
    } catch (error) {
      context.log.warn({ path: each.path, error: errorChain(error) }, 'recording not deleted')
    }
  }
  // Before the first file goes: an index that names a file that was deleted would be a lie.
  if (garbage.length > 0) await context.rows.sync()
  // A few at once, as many as the process can spare threads for.
  for (let i = 0; i < garbage.length; i += filesAtOnce) {
    await Promise.all(garbage.slice(i, i + filesAtOnce).map(deleteOne))
  }
  if (gone.length > 0) await context.rows.remove(gone.map(({ id }) => id))
  await deleteEmptyDays(context, gone)
  return gone.length
}

async function deleteFile(archiveDir: string, path: string): Promise<void> {
  if (findCameraOfPath(path) === undefined) throw new AppError('internal', 'expected the path of a recording')
  await unlink(join(archiveDir, path)).catch(ignoreMissing)
}

/** Not today's folder: a recorder may be about to create a file in it. */
async function deleteEmptyDays({ archiveDir, clock }: DeletionContext, gone: readonly Garbage[]): Promise<void> {
  const today = new Date(clock.nowMs()).toISOString().slice(0, 10)
  for (const folder of new Set(gone.map(({ path }) => dirname(path)))) {
    if (!folder.endsWith(today)) await deleteEmptyFolder(archiveDir, folder)
  }
}

/** Removes the folder when nothing is in it. */
export async function deleteEmptyFolder(archiveDir: string, folder: string): Promise<void> {
  await rmdir(join(archiveDir, folder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
